package proof_test //nolint:lll // tables of test data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/proof"
)

// Somebody who has the database deletes a tenant from the tables that a verification reads. Whatever else names it says
// that it was there.
func TestATenantThatIsGoneFromTheLogIsMissed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(3) })
		acme := w.in("acme")
		kept := acme.signed(func() { acme.live(3) })
		const gone = "missing 1 the whole log of the tenant is missing, and it is still named in "
		acme.leaves("events", "event_texts", "tree", "signed_checkpoints")
		finds(t, w.verify(proof.Verification{}), gone+"checkpoints, knowledge_1, knowledge_1_changes, knowledge_1_votes")
		acme.leaves("checkpoints", "knowledge_1_changes", "knowledge_1_votes")
		finds(t, w.verify(proof.Verification{}), gone+"knowledge_1")

		// Of what is left nowhere at all only a checkpoint that was kept elsewhere knows.
		acme.leaves("knowledge_1")
		finds(t, w.verify(proof.Verification{}))
		finds(t, w.verify(proof.Verification{Checkpoints: []string{kept.Note}}), "missing 1 the checkpoint kept elsewhere is of 6 events")

		for table, columns := range map[string]string{
			"checkpoints":     "projection, tenant, position, event_id, updated_at",
			"streams":         "tenant, stream, version, position, form, state",
			"erasures":        "tenant, position, event_id, stream, number, texts, erased_at",
			"destroyed_texts": "tenant, position, said_at",
			"directories":     "tenant, uri",
			"key_uses":        "tenant, prefix, used_at",
			"requests":        "tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at",
			"item_uses":       "tenant, number, uses, used_at",
		} {
			acme.notes(table, columns)
			finds(t, w.verify(proof.Verification{}), gone+table)
			acme.leaves(table)
		}

		// These are noted of tenants of whom nothing was ever recorded, too.
		acme.notes("requests", "tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at")
		w.tamper("UPDATE requests SET position = 0")
		finds(t, w.verify(proof.Verification{}))
	})
}

// leaves deletes the tenant from tables.
func (w *world) leaves(tables ...string) {
	w.t.Helper()
	for _, table := range tables {
		w.tamper(fmt.Sprintf("DELETE FROM %s WHERE tenant = '%s'", table, w.by.Tenant))
	}
}

// notes writes a row about the tenant into a table, with something in each of these columns.
func (w *world) notes(table, columns string) {
	w.t.Helper()
	something := map[string]string{
		"tenant": "'" + w.by.Tenant + "'", "event_id": "'01a1fe44-b7e6-714e-9df0-cd6cd361d3b0'",
		"updated_at": "'2026-03-02T09:00:00.000000Z'", "state": "'{}'", "fingerprint": "'x'",
	}
	if w.db.Engine == database.SQLite {
		something["fingerprint"] = "x'00'"
	}
	for _, time := range []string{"erased_at", "used_at", "recorded_at", "at"} {
		something[time] = something["updated_at"]
	}
	for _, number := range []string{"position", "version", "form", "number", "texts", "said_at", "uses"} {
		something[number] = "1"
	}
	var values []string
	for column := range strings.SplitSeq(columns, ", ") {
		value, is := something[column]
		if !is {
			value = "'something'"
		}
		values = append(values, value)
	}
	w.tamper(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, strings.Join(values, ", ")))
}

// Somebody who has the database cuts the end of a log off every table that proves it.
func TestAnEndThatWasCutOffIsMissed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(3) })
		finds(t, w.verify(proof.Verification{}))
		w.tamper(
			"DELETE FROM events WHERE tenant = 'default' AND position > 4", "DELETE FROM event_texts WHERE tenant = 'default' AND position > 4",
			"DELETE FROM tree WHERE tenant = 'default'", "DELETE FROM signed_checkpoints WHERE tenant = 'default'",
		)
		finds(t, w.verify(proof.Verification{}), "missing 5 the log was cut: it ends at position 4, and checkpoints, knowledge_1 knew position 6")
		w.leaves("checkpoints")
		finds(t, w.verify(proof.Verification{}), "missing 5 the log was cut: it ends at position 4, and knowledge_1 knew position 5")
		w.tamper("DELETE FROM knowledge_1 WHERE tenant = 'default' AND number > 4")
		finds(t, w.verify(proof.Verification{})) // nothing is left that knows better
	})
}

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
				kept := w.signed(func() { w.live(5) })
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
	prover := proof.NewProver(w.db, w.log, w.followers, w.key, proof.Options{Logger: databasetest.Log(w.t)})
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

// The key has signed another log under the same name, as in a former primary that took writes.
func TestAForkedLogTakesNoWritesUntilTheRightOneIsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := newWorld(t, databasetest.Open(t, databasetest.Migrated(t, w.db.Engine))).signingWith(w.key)
		elsewhere := other.signed(func() { other.live(1) })
		w.live(2)
		w.grow()
		status := must(w.prover.Status(t.Context(), w.by.Tenant))(t)
		_, err := w.db.TransactOne(t.Context(), `
			INSERT INTO signed_checkpoints (tenant, size, signer, note, signed_at)
			VALUES (?, ?, ?, ?, ?)`,
			w.by.Tenant, elsewhere.Size, status.Settings["key"], elsewhere.Note, database.At(time.Now()))
		noError(t, err)

		prover := proof.NewProver(w.db, w.log, w.followers, w.key,
			proof.Options{Every: time.Millisecond, Logger: databasetest.Log(t)})
		ctx, stop := context.WithCancel(t.Context())
		var keeping sync.WaitGroup
		keeping.Go(func() { prover.Keep(ctx) })
		defer keeping.Wait()
		defer stop()
		databasetest.Until(t, "writes are refused", func() bool { return w.log.Prompt() != nil })
		_, err = w.log.Submit(t.Context(), domain.Submission{Command: w.command("refused"), By: w.by})
		if !errors.Is(err, domain.ErrUnavailable) || !strings.Contains(w.log.Prompt().Error(), "database URL") {
			t.Errorf("got %v, want unavailable, and what to do", err)
		}
		w.leaves("signed_checkpoints")
		databasetest.Until(t, "writes are accepted", func() bool { return w.log.Prompt() == nil })
		w.remember("accepted")
	})
}

func TestATreeOfWhichSomethingIsLostStandsStill(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
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

func TestAnExportIsHeldAgainstACheckpointThatWasKeptElsewhere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		kept := w.signed(func() { w.live(5) })
		later := w.signed(w.live3)
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
		forger := w.signingWith(newKey(t, "annals.example"))
		holds(domain.Export{}, forger.sign().Note,
			"signature 20 a checkpoint is not to be trusted: not signed by a trusted key")

		// Somebody who has the key rewrites the log, and signs that.
		w.tamper("DELETE FROM signed_checkpoints")
		w.rewrite(6)
		w.tamper("DELETE FROM tree", "DELETE FROM checkpoints")
		w.grow()
		w.prover = proof.NewProver(w.db, w.log, w.followers, w.key, proof.Options{})
		w.sign()
		const other = "signed another tree of 10 events: something at the positions 1 to 10 was changed since; it is not the log that the checkpoint was kept of"
		finds(t, w.verifyLines(w.export(domain.Export{})...))
		holds(domain.Export{}, kept.Note, "checkpoint 10 the checkpoint kept elsewhere "+other)
	})
}
