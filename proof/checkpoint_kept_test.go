package proof_test //nolint:lll // findings are data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/proof"
)

func TestAnExportIsHeldAgainstACheckpointThatWasKeptElsewhere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(5)
		w.grow()
		kept := w.sign()
		w.live3()
		w.grow()
		later := w.sign()
		verify := func(x domain.Export, checkpoint string) (*proof.Report, error) {
			path := filepath.Join(t.TempDir(), "log.ndjson")
			noError(t, os.WriteFile(path, []byte(strings.Join(w.export(x), "")+"\n"), 0o600))
			return proof.VerifyFile(t.Context(), path,
				proof.Verification{Keys: []string{w.key.Public()}, Checkpoints: []string{checkpoint}})
		}
		holds := func(x domain.Export, checkpoint string, wanted ...string) {
			t.Helper()
			report := must(verify(x, checkpoint))(t)
			finds(t, report, wanted...)
		}
		holds(domain.Export{}, kept.Note)
		holds(domain.Export{}, later.Note)
		holds(domain.Export{After: 7}, kept.Note)
		holds(domain.Export{After: 10}, kept.Note)
		holds(domain.Export{Through: 10}, kept.Note)
		holds(domain.Export{Through: 9}, kept.Note,
			"missing 10 the checkpoint kept elsewhere is of 10 events, and the export ends at position 9: the log was cut, or exported before that was signed")
		if _, err := verify(domain.Export{After: 11}, kept.Note); !errors.Is(err, proof.ErrApart) {
			t.Errorf("got %v of an export that begins after the checkpoint", err)
		}

		another := strings.Replace(kept.Note, "/default\n", "/another\n", 1)
		const elsewhere = "missing 1 the checkpoint kept elsewhere is of 10 events of the log of tenant another, which is not in what was verified"
		holds(domain.Export{}, another, elsewhere)
		finds(t, w.verify(proof.Verification{Checkpoints: []string{another}}), elsewhere)

		// Another key signed it.
		forger := *w
		forger.key = newKey(t, "annals.example")
		forger.prover = proof.NewProver(w.db, w.log, forger.key, proof.Options{})
		holds(domain.Export{}, forger.sign().Note,
			"signature 20 a checkpoint is not to be trusted: not signed by a trusted key")

		// Somebody who has the key rewrites the log, and signs that.
		w.tamper("DELETE FROM signed_checkpoints")
		w.rewrite(6)
		w.tamper("DELETE FROM tree", "DELETE FROM checkpoints")
		w.grow()
		w.prover = proof.NewProver(w.db, w.log, w.key, proof.Options{})
		w.sign()
		const other = "signed another tree of 10 events: something at the positions 1 to 10 was changed since; it is not the log that the checkpoint was kept of"
		finds(t, w.verifyLines(w.export(domain.Export{})...))
		holds(domain.Export{}, kept.Note, "checkpoint 10 the checkpoint kept elsewhere "+other)
	})
}
