package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/events/proof"
)

// rootOf is the root as an independent computation gives it: over all hashes at once.
func (w *world) rootOf() (tlog.Hash, int64) {
	w.t.Helper()
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		some := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			some[i] = stored[index]
		}
		return some, nil
	})
	size := int64(0)
	for _, event := range logtest.All(w.t, w.log, w.by.Tenant) {
		hashes := must(tlog.StoredHashes(size, event.Hash, reader))(w.t)
		stored = append(stored, hashes...)
		size++
	}
	root := must(tlog.TreeHash(size, reader))(w.t)
	return root, size
}

func (w *world) agrees() {
	w.t.Helper()
	root, size := w.rootOf()
	if c := w.sign(); c.Size != size || tlog.Hash(c.Root) != root {
		w.t.Errorf("got a tree of %d events with root %x, want %d and %x", c.Size, c.Root, size, root)
	}
}

func TestATreeGrowsWithItsLogAsRFC6962SaysIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 9 { // some events at a time, around powers of two
			for j := range i + 1 {
				w.remember(fmt.Sprintf("k-%d-%d", i, j))
			}
			w.grow()
			w.agrees()
		}
		var many []domain.Submission
		for i := range 700 {
			many = append(many, domain.Submission{By: w.by, Command: w.command(fmt.Sprintf("many-%d", i))})
		}
		w.log.SubmitAll(t.Context(), many)
		w.grow()
		w.agrees()
		finds(t, w.verify(proof.Verification{}))

		for position := int64(1); position < w.head(); position += 37 {
			record := must(w.log.Reader.Records(t.Context(), "default", position-1, 1))(t)
			entry := must(w.prover.Entry(t.Context(), "default", record[0].EventID))(t)
			got, err := w.prover.Inclusion(t.Context(), "default", entry, false)
			if err != nil || got.Position != position {
				t.Fatalf("position %d: got %+v, %v", position, got, err)
			}
			path := make(tlog.RecordProof, len(got.Path))
			for i, hash := range got.Path {
				path[i] = tlog.Hash(hash)
			}
			if err := tlog.CheckRecord(path, got.Checkpoint.Size, tlog.Hash(got.Checkpoint.Root), position-1,
				tlog.RecordHash(record[0].Hash)); err != nil {
				t.Errorf("position %d: %v", position, err)
			}
		}
	})
}

func TestNoEventIsMissedOrTakenTwice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(5)
		w.grow()
		w.agrees()

		// The checkpoint was set back, or lost: what is there is compared, the rest appended.
		w.live3()
		w.tamper("DELETE FROM checkpoints WHERE projection = 'proof'")
		w.grow()
		w.agrees()

		// An event that nobody can decode is a leaf like any other.
		w.remember("undecodable")
		w.tamper(`UPDATE events SET data = '[]' WHERE position = 21`)
		w.remember("after-it")
		w.grow()
		report := w.verify(proof.Verification{})
		finds(t, report, "hash 21 the record is not what was recorded")
		if report.Count != 1 || report.Tenants[0].Tree != 22 {
			t.Errorf("got %+v of %+v", report.Faults, report.Tenants[0])
		}
	})
}

func TestATreeThatIsNotTheLogsStandsStill(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
		w.live(5)
		w.grow()
		w.rewrite(3)
		w.tamper("DELETE FROM checkpoints WHERE projection = 'proof'")
		w.remember("one-more")
		w.halts()
	})
}

// halts waits until the tree stands still, and checks that it passes nothing over.
func (w *world) halts() {
	w.t.Helper()
	router := must(follow.NewRouter(databasetest.Log(w.t)))(w.t)
	w.prover.Follow(router)
	ctx, stop := context.WithCancel(w.t.Context())
	ended := make(chan error)
	go func() { ended <- router.Run(ctx) }()
	for w.followers.LastError(proof.Name, "default") == nil {
		if w.t.Context().Err() != nil {
			w.t.Fatal("no trouble")
		}
	}
	if err := w.followers.LastError(proof.Name, "default"); !errors.Is(err, events.ErrRestored) {
		w.t.Errorf("got %v, want it to halt", err)
	}
	stop()
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
	var rows int
	if err := w.db.NewRaw("SELECT count(*) FROM quarantine").Scan(w.t.Context(), &rows); err != nil || rows > 0 {
		w.t.Errorf("%d streams are passed over (%v)", rows, err)
	}
}

func TestTheTablesOfTheLogRefuseChanges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(2) })
		for _, statement := range []string{
			"UPDATE events SET actor = 'user:x'", "DELETE FROM events", "DELETE FROM events WHERE position = 4",
			"UPDATE event_texts SET text = '{}'", "DELETE FROM event_texts", "DELETE FROM event_texts WHERE position = 1",
			"UPDATE tree SET size = 7", "DELETE FROM tree", "UPDATE signed_checkpoints SET size = 7",
			"DELETE FROM signed_checkpoints",
		} {
			if err := w.exec(statement); err == nil {
				t.Errorf("%s is not refused", statement)
			}
		}
		if w.db.Engine == database.Postgres {
			for _, table := range []string{"events", "event_texts", "tree", "signed_checkpoints"} {
				if err := w.exec("TRUNCATE " + table); err == nil {
					t.Errorf("TRUNCATE %s is not refused", table)
				}
			}
		}
		w.remember("secret")
		w.erase("secret")
		w.grow()
		finds(t, w.verify(proof.Verification{}))
	})
}

func TestANewKeyGoesOnWhereTheOldOneEnded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(2) })
		old := w.key.Public()
		w = w.signingWith(newKey(t, "another.example"))
		w.sign()
		finds(t, w.verify(proof.Verification{Keys: []string{w.key.Public(), old}}))
		finds(t, w.verify(proof.Verification{}), "signature 4 a checkpoint is not to be trusted")
	})
}

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
			prover := proof.NewProver(w.db, w.log, w.followers, other, proof.Options{Known: test.known, Logger: databasetest.Log(t)})
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
