package projections_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

func TestARebuildIsCancelledAtAnyStage(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRebuilding(t, db, projections.Settings{})
		for i := range 200 {
			r.remember(fmt.Sprint("item-", i), "retry with backoff", "team:pay")
		}
		r.SliceStreams, r.Batch.Limit = 20, 100
		if err := r.Cancel(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("cancelling nothing: got %v", err)
		}
		for i, stage := range []string{"building", "indexing", "catching_up", "verifying", "ready"} {
			cancelled := make(chan error, 1)
			r.at(stage, func() {
				go func() { cancelled <- r.Cancel(t.Context()) }()
				for range 1000 { // until Cancel has asked
					if _, running := r.Progress(); !running {
						break
					}
					time.Sleep(10 * time.Microsecond)
				}
			})
			last := r.run()
			r.at(stage, nil)
			err := <-cancelled
			switch last.State {
			case "retired":
				if err != nil || last.Active != 1 || last.Error != "cancelled" {
					t.Errorf("%s: got %v, version %d active and %q", stage, err, last.Active, last.Error)
				}
			case "active": // it was faster
				if stage != "ready" || !errors.Is(err, domain.ErrConflict) {
					t.Errorf("%s: got %v although version %d is active", stage, err, last.Version)
				}
				if _, err := r.base.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s: version %d is %s: %s", stage, last.Version, last.State, last.Error)
			}
			if want := i + 2; last.Version != want {
				t.Errorf("%s: version %d was cancelled, want %d", stage, last.Version, want)
			}
			r.submit(domain.GiveFeedback{Target: domain.Target{By: r.by, ID: "item-1"}, Verdict: domain.Helpful, TraceID: stage})
		}
		if last := r.run(); last.State != "active" {
			t.Errorf("afterwards, version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
	})
}

func TestAnInterruptedRebuildGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		one := newRebuilding(t, db, projections.Settings{})
		for i := range 200 {
			one.remember(fmt.Sprint("item-", i), "retry with backoff", "team:pay")
		}
		other := newRebuilding(t, db, projections.Settings{}) // as another process would be, on PostgreSQL
		held := make(chan struct{})
		reached := make(chan struct{})
		one.at("catching_up", func() { close(reached); <-held })
		if _, err := one.Start(t.Context(), domain.RebuildOrder{}); err != nil {
			t.Fatal(err)
		}
		<-reached
		if db.Engine == database.Postgres {
			if _, err := other.Start(t.Context(), domain.RebuildOrder{}); !errors.Is(err, domain.ErrConflict) {
				t.Errorf("a second process began, too: %v", err)
			}
			if err := other.Resume(t.Context()); err != nil {
				t.Errorf("resuming what another process does: %v", err)
			}
			if _, running := other.Progress(); running {
				t.Error("a second process goes on with what another one does")
			}
		}
		go func() { time.Sleep(10 * time.Millisecond); close(held) }()
		one.Close()
		if last := one.last(); last.State != "catching_up" {
			t.Errorf("version %d is %s after its process ended, want it as it was", last.Version, last.State)
		}
		if err := other.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last := other.ended(); last.State != "active" || last.Version != 2 {
			t.Errorf("version %d is %s: %s", last.Version, last.State, last.Error)
		}
	})
}

// A rebuild whose lease is lost stops, and goes on when it is resumed.
func TestALostLeaseInterruptsARebuild(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRebuildingWith(t, db, projections.Settings{}, events.Options{Lease: 100 * time.Millisecond})
		r.remember("item", "retry with backoff", "team:pay")
		r.during("indexing", func(ctx context.Context) {
			r.at("indexing", nil)
			r.corrupt("UPDATE leases SET holder = 'another', expires_at = '2026-01-01T00:00:00.000000Z' WHERE projection = " +
				"'rebuild'")
			<-ctx.Done() // it has looked
		})
		if last := r.run(); last.State != "building" {
			t.Errorf("version %d is %s: %s, want it interrupted", last.Version, last.State, last.Error)
		}
		if err := r.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last := r.ended(); last.State != "active" {
			t.Errorf("version %d is %s: %s", last.Version, last.State, last.Error)
		}
	})
}

// What another process gives up is not worked on any more.
func TestARebuildIsCancelledByAnotherProcess(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		one, other := newRebuilding(t, db, projections.Settings{}), newRebuilding(t, db, projections.Settings{})
		one.remember("item", "retry with backoff", "team:pay")
		one.at("verifying", func() {
			if err := other.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if last := one.run(); last.State != "retired" || last.Active != 1 {
			t.Errorf("version %d is %s: %s, want it cancelled", last.Version, last.State, last.Error)
		}
	})
}

// A version that was verified against another one than readers read by now is not switched to.
func TestARollbackStopsARebuildThatWasVerifiedAgainstWhatIsGone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRebuilding(t, db, projections.Settings{})
		r.remember("item", "retry with backoff", "team:pay")
		if last := r.run(); last.State != "active" {
			t.Fatalf("version %d is %s", last.Version, last.State)
		}
		r.at("ready", func() {
			if back, err := r.base.Rollback(t.Context()); err != nil || back != 1 {
				t.Errorf("rolled back to %d: %v", back, err)
			}
		})
		if last := r.run(); last.State != "failed" || last.Active != 1 || last.Error == "" {
			t.Errorf("version %d is %s (%s) and %d active, want the rollback to stand", last.Version, last.State,
				last.Error, last.Active)
		}
	})
}

func TestAnEmptyLogIsRebuilt(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRebuilding(t, db, projections.Settings{})
		r.at("catching_up", func() {
			r.in("newcomer").remember("item",
				"the first of a tenant that came meanwhile", "public")
		})
		if last := r.run(); last.State != "active" || last.Report.Items != 1 {
			t.Errorf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if k, err := r.base.Find(t.Context(), "newcomer", "item"); err != nil || k.Helpful != 1 {
			t.Errorf("got %+v (%v), want what came meanwhile", k, err)
		}
	})
}
