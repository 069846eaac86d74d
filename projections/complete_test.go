package projections_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestADatabaseThatLacksAColumnSaysWhatHelps(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.Remember("item", "retry with backoff", "team:pay")
		openPast := func() {
			t.Helper()
			Must(projections.OpenPast(t.Context(), r.Base, r.Log, r.Followers))(t)
		}
		complete := func(want string) {
			t.Helper()
			err := r.Base.Complete(t.Context())
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		openPast()
		complete("")

		databasetest.Tamper(t, r.DB, "DROP VIEW knowledge", "ALTER TABLE knowledge_1 DROP COLUMN relations",
			"DROP TABLE knowledge_1_votes")
		complete("the database lacks knowledge_1_votes: run annals rebuild knowledge --repair")
		r.Switches(domain.RebuildOrder{Repair: true})
		complete("")

		databasetest.Tamper(t, r.DB, "ALTER TABLE past_1 DROP COLUMN tag_bits", "DROP TABLE past_1_words")
		complete("the database lacks past_1.tag_bits, past_1_words: restart annals serve, which makes these tables again")
		openPast()
		complete("")

		databasetest.Tamper(t, r.DB, "ALTER TABLE checkpoints DROP COLUMN quarantines")
		complete("the database lacks checkpoints.quarantines: put a backup back, as described in docs/backup.md#restore")
		databasetest.Tamper(t, r.DB, "UPDATE schema_migrations SET version = version - 1")
		if err := r.Base.Complete(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": run annals migrate") {
			t.Errorf("got %v, want the command that migrates", err)
		}
	})
}

func TestALogAheadOfTheClockIsReported(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now := time.Now()
		var fast atomic.Int64
		w := NewWorldWith(t, db, projections.Settings{},
			events.Options{Clock: func() time.Time { return now.Add(time.Duration(fast.Load())) }})
		for _, ahead := range []time.Duration{0, time.Hour} {
			fast.Store(int64(ahead))
			w.Remember(ahead.String(), "retry with jitter", "public")
			fast.Store(0)
			status := Must(w.Reader().Status(t.Context(), w.By.Tenant))(t)
			if got := status[0].Ahead; got.Round(time.Second) != ahead {
				t.Errorf("got a log that is %s ahead, want %s", got, ahead)
			}
		}
	})
}
