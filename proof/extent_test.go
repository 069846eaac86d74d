package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/proof"
)

// Somebody who has the database, and no key, rewrites an event and takes away what proves what it was.
func TestATreeAndSignaturesThatWereTakenAwayAreMissed(t *testing.T) {
	t.Parallel()
	const (
		cut      = "tree 1 the stored tree was cut: it had 10 events, and ends at position 0"
		unsigned = "checkpoint 1 signed checkpoints are missing: 10 events were signed, and those that are there cover 0"
	)
	for name, c := range map[string]struct {
		tables []string
		wanted []string
	}{
		"the tree and what was signed": {[]string{"tree", "signed_checkpoints"}, []string{cut, unsigned}},
		"the tree":                     {[]string{"tree"}, []string{cut}},
		"what was signed":              {[]string{"signed_checkpoints"}, []string{unsigned}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.live(5)
				w.grow()
				kept := w.sign()
				w.rewrite(3)
				w.leaves(c.tables...)
				finds(t, w.verify(proof.Verification{}), c.wanted...)
				w.signsNothing()

				// A tree that is made anew is not signed, either.
				w.remember("one-more")
				w.signsNothing()
				finds(t, w.verify(proof.Verification{}), c.wanted...)

				// Who takes away what the checkpoints know, too, is found out by one that was kept elsewhere.
				w.leaves("tree", "signed_checkpoints", "checkpoints")
				w.grow()
				w.sign()
				finds(t, w.verify(proof.Verification{}))
				finds(t, w.verify(proof.Verification{Checkpoints: []string{kept.Note}}),
					"checkpoint 10 the checkpoint kept elsewhere signed another tree")
			})
		})
	}
}

// signsNothing checks that a server which is started now has halted, and states why.
func (w *world) signsNothing() {
	w.t.Helper()
	prover := proof.NewProver(w.db, w.log, w.key, proof.Options{Logger: databasetest.Log(w.t)})
	c, err := prover.Checkpoint(w.t.Context(), w.by.Tenant)
	refusal, is := errors.AsType[*domain.Refusal](err)
	if !errors.Is(err, events.ErrRestored) || !is || !errors.Is(refusal, domain.ErrBroken) {
		w.t.Errorf("signed %+v (%v)", c, err)
	}
	prover.Finish(w.t.Context())
	status, err := prover.Status(w.t.Context(), w.by.Tenant)
	if err != nil || !status.Halted || !strings.Contains(status.Error, refusal.Detail) {
		w.t.Errorf("halted is %v: %q (%v)", status.Halted, status.Error, err)
	}
	if got := w.verify(proof.Verification{}).Tenants[0].Signed; got > 10 {
		w.t.Errorf("%d events are signed", got)
	}
}

func TestATreeOfWhichSomethingIsLostStandsStill(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(5)
		w.grow()
		w.leaves("tree")
		w.remember("one-more")
		w.halts()
	})
}

func TestAnEmptyTreeIsNotSigned(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if c := w.sign(); c.Origin != "annals.example/default" || c.Size != 0 || c.Note != "" {
			t.Errorf("got %+v", c)
		}
	})
}
