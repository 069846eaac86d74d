package proof_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/proof"
)

// Servers of one database with keys of their own could not verify each other's checkpoints.
func TestKeysThatASignerDoesNotKnowAreNamed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(1)
		w.grow()
		must(w.prover.Checkpoint(t.Context(), w.by.Tenant))(t)
		other := newKey(t, "other.example")
		for name, test := range map[string]struct {
			known []string
			want  bool
		}{
			"a stranger's key":  {nil, true},
			"a key from before": {[]string{w.key.Public()}, false},
		} {
			prover := proof.NewProver(w.db, w.log, other, proof.Options{Known: test.known, Logger: databasetest.Log(t)})
			status := must(prover.Status(t.Context(), w.by.Tenant))(t)
			if got := strings.HasPrefix(status.Settings["unknown_keys"], "annals.example+"); got != test.want {
				t.Errorf("%s: unknown are %q", name, status.Settings["unknown_keys"])
			}
		}
		status, err := w.prover.Status(t.Context(), w.by.Tenant)
		if err != nil || status.Settings["unknown_keys"] != "" {
			t.Errorf("its own: unknown are %q, %v", status.Settings["unknown_keys"], err)
		}
	})
}
