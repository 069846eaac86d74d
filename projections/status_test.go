package projections_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

func TestALogAheadOfTheClockIsReported(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now := time.Now()
		var fast atomic.Int64
		w := newWorldWith(t, db, projections.Settings{},
			events.Options{Clock: func() time.Time { return now.Add(time.Duration(fast.Load())) }})
		for _, ahead := range []time.Duration{0, time.Hour} {
			fast.Store(int64(ahead))
			w.remember(ahead.String(), "retry with jitter", "public")
			fast.Store(0)
			status := must(w.reader().Status(t.Context(), w.by.Tenant))(t)
			if got := status[0].Ahead; got.Round(time.Second) != ahead {
				t.Errorf("got a log that is %s ahead, want %s", got, ahead)
			}
		}
	})
}
