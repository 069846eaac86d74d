package follow_test

import (
	"context"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
)

func TestOneProcessDoesSomethingAlone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		_, followers := newLog(t, db, events.Options{Lease: 200 * time.Millisecond})
		done := 0
		alone := func(do func(context.Context) error) {
			t.Helper()
			if err := followers.RunExclusively(t.Context(), "chores", do); err != nil {
				t.Fatal(err)
			}
		}
		alone(func(ctx context.Context) error {
			began := time.Now() // for longer than a lease lasts
			databasetest.Until(t, "the lease would have ended", func() bool { return time.Since(began) > time.Second })
			if db.Engine == database.Postgres {
				alone(func(context.Context) error { done++; return nil }) // as another would: the lease stands
			}
			return ctx.Err()
		})
		alone(func(context.Context) error { done += 10; return nil })
		if done != 10 {
			t.Errorf("done %d times", done)
		}
	})
}
