package proof_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/proof"
)

func TestWhatIsNewestIsSignedAtTheEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a")
		if got, want := w.verify(proof.Verification{}).Unsigned(), int64(1); got != want {
			t.Errorf("before the end: got %d unsigned events, want %d", got, want)
		}
		w.in("other").remember("b")
		noError(t, w.log.Close(t.Context()))
		w.prover.Finish(t.Context())
		report := w.verify(proof.Verification{})
		finds(t, report)
		if got := report.Unsigned(); got != 0 {
			t.Errorf("got %d unsigned events, want none", got)
		}
	})
}

func TestWhoeverWorksOnTheTreeSignsIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a")
		later, want := "clock_timestamp() + interval '1 hour'", int64(1)
		if w.db.Engine == database.SQLite { // whose file has one owner
			later, want = "'2100-01-01T00:00:00.000000Z'", 0
		}
		noError(t, w.exec(`INSERT INTO leases (projection, holder, expires_at) VALUES ('proof', 'another', `+later+
			`)`))
		w.prover.Finish(t.Context())
		if got := w.verify(proof.Verification{}).Unsigned(); got != want {
			t.Errorf("got %d unsigned events, want %d: another process has the tree", got, want)
		}
	})
}

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
