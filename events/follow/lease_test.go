package follow_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
)

func leaseOf(t *testing.T, followers *follow.Followers, projection string) follow.Lease {
	t.Helper()
	lease, err := followers.Lease(t.Context(), projection)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// expiry is when the one lease ends, as the database has it.
func expiry(t *testing.T, db *database.DB) (at string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), `SELECT CAST(expires_at AS text) FROM leases`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// leaseReads counts how often a lease is looked at.
type leaseReads struct{ atomic.Int64 }

func (*leaseReads) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (r *leaseReads) AfterQuery(_ context.Context, e *bun.QueryEvent) {
	if strings.Contains(e.Query, "FROM leases") {
		r.Add(1)
	}
}

func TestALeaseIsReleasedWhenThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		reads := &leaseReads{}
		db.AddQueryHook(reads)
		l, followers := newLog(t, db, events.Options{Lease: time.Hour}) // which ends because it is released
		e := newEffects(t, db, "effects")
		handle(t, followers, "p", e.handle)
		for round := range 2 {
			logtest.Remember(t, l, "acme", round, 1)
			e.reach(t, followers, db, "p", "acme", int64(round)+1)
			eventually(t, func() string {
				if lease := leaseOf(t, followers, "p"); lease.Held() || lease.Holder != db.InstanceID {
					return fmt.Sprintf("got %+v, want the lease of %s to have ended", lease, db.InstanceID)
				}
				return ""
			})
			released := expiry(t, db)
			for range 2 { // it has looked what there is to do when it looks at the lease again
				before := reads.Load()
				l.Watchers.Notify("acme")
				eventually(t, func() string {
					if reads.Load() == before {
						return "want it to look at the lease"
					}
					return ""
				})
			}
			if got := expiry(t, db); got != released {
				t.Errorf("the lease was taken again without work: it ends at %s, not at %s", got, released)
			}
		}
	})
}

func TestALeaseIsKeptForAsLongAsTheWorkTakes(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, mine := newLog(t, db, events.Options{Lease: time.Second})
		_, other := newLog(t, db, events.Options{Lease: time.Second, Poll: 5 * time.Millisecond})
		e := newEffects(t, db, "effects")
		began := make(chan struct{}, 1)
		run(t, func(router *message.Router) {
			follow.AddPreparer(router, mine, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
				began <- struct{}{}
				began := time.Now() // a slow model
				databasetest.Until(t, "the lease would have ended", func() bool { return time.Since(began) > 2*time.Second })
				return change{page: page, write: e.handle, done: make(chan int64, 1)}, nil
			})
		})
		logtest.Remember(t, l, "acme", 0, 1)
		<-began
		handle(t, other, "p", func(context.Context, bun.IDB, follow.Page) error {
			t.Error("another one works on it, too")
			return nil
		})
		e.reach(t, mine, db, "p", "acme", 1)
	})
}

// levels hands over the level of each message about a lease that was not renewed.
type levels struct {
	slog.Handler
	of chan slog.Level
}

func (l levels) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "a lease was not renewed" {
		select {
		case l.of <- r.Level:
		default:
		}
	}
	return l.Handler.Handle(ctx, r)
}

func TestARenewalThatFailsInTimeForTheNextIsNoWarning(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		failed := levels{databasetest.Log(t).Handler(), make(chan slog.Level, 1)}
		l, followers := follow.NewLog(db, inline(t, db), events.Options{Lease: 6 * time.Second, Logger: slog.New(failed)})
		t.Cleanup(func() {
			if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		e := newEffects(t, db, "effects")
		began, mended := make(chan struct{}), make(chan struct{})
		run(t, func(router *message.Router) {
			follow.AddPreparer(router, followers, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
				close(began)
				<-mended
				return change{page: page, write: e.handle, done: make(chan int64, 1)}, nil
			})
		})
		logtest.Remember(t, l, "acme", 0, 1)
		<-began
		damage(t, db, "ALTER TABLE leases RENAME TO away")
		if got := <-failed.of; got != slog.LevelInfo {
			t.Errorf("got a message of level %s, want INFO", got)
		}
		damage(t, db, "ALTER TABLE away RENAME TO leases")
		close(mended)
		e.reach(t, followers, db, "p", "acme", 1)
	})
}

// A page is prepared; meanwhile another process has taken over and has moved the checkpoint.
func TestWhatWasPreparedBeforeTheCheckpointMovedIsNotWritten(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, followers := newLog(t, db, events.Options{Poll: 5 * time.Millisecond})
		e := newEffects(t, db, "effects")
		prepared, overtaken := make(chan struct{}), make(chan struct{})
		var writes atomic.Int64
		done := make(chan int64, 10)
		run(t, func(router *message.Router) {
			follow.AddPreparer(router, followers, "p", func(_ context.Context, page follow.Page) (follow.Change, error) {
				close(prepared)
				<-overtaken
				return change{page: page, done: done, write: func(ctx context.Context, tx bun.IDB, page follow.Page) error {
					writes.Add(1)
					return e.handle(ctx, tx, page)
				}}, nil
			})
		})
		logtest.Remember(t, l, "acme", 0, 2)
		<-prepared
		damage(t, db, `UPDATE leases SET holder = 'another'`)
		damage(t, db, `INSERT INTO effects (tenant, position) SELECT tenant, position FROM events`)
		damage(t, db, `
			INSERT INTO checkpoints (projection, tenant, position, event_id, updated_at)
			SELECT 'p', tenant, position, event_id, recorded_at FROM events WHERE position = 2`)
		close(overtaken)
		if got := <-done; got != 2 {
			t.Errorf("got a change up to %d done, want 2", got)
		}
		if got := e.reach(t, followers, db, "p", "acme", 2); got != 2 || writes.Load() != 0 {
			t.Errorf("got %d effects and %d writes, want 2 and none", got, writes.Load())
		}
	})
}
