package projections_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

func TestARebuildIsCancelledAtAnyStage(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.rememberMany(200, "retry with backoff")
		r.SliceStreams, r.BatchRows = 20, 100
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
				must(r.base.Versions.Rollback(t.Context()))(t)
			default:
				t.Errorf("%s: version %d is %s: %s", stage, last.Version, last.State, last.Error)
			}
			if want := i + 2; last.Version != want {
				t.Errorf("%s: version %d was cancelled, want %d", stage, last.Version, want)
			}
			r.submit(r.helpful("item-1", stage))
		}
		r.switches(domain.RebuildOrder{})
	})
}

func TestAnInterruptedRebuildGoesOnInAnotherProcess(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, one *rebuilding) {
		one.rememberMany(200, "retry with backoff")
		other := newRebuilding(t, one.db, projections.Settings{}) // as another process would be, on PostgreSQL
		held := make(chan struct{})
		reached := make(chan struct{})
		one.at("catching_up", func() { close(reached); <-held })
		must(one.Start(t.Context(), domain.RebuildOrder{}))(t)
		<-reached
		go func() { time.Sleep(10 * time.Millisecond); close(held) }()
		one.Close()
		if last := one.last(); last.State != "catching_up" || last.Progress == nil || last.Progress.Streams != 200 {
			t.Errorf("after its process ended: %+v, want it as it was", last)
		}
		noError(t, other.Resume(t.Context()))
		other.isActive(other.ended(), 2)
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
		noError(t, r.Resume(t.Context()))
		r.isActive(r.ended(), 2)
	})
}

// What another process gives up is not worked on any more.
func TestARebuildIsCancelledByAnotherProcess(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		one, other := newRebuilding(t, db, projections.Settings{}), newRebuilding(t, db, projections.Settings{})
		one.remember("item", "retry with backoff", "team:pay")
		one.at("verifying", func() {
			report(t, other.Cancel(t.Context()))
		})
		if last := one.run(); last.State != "retired" || last.Active != 1 {
			t.Errorf("version %d is %s: %s, want it cancelled", last.Version, last.State, last.Error)
		}
	})
}

// A version that was verified against another one than readers read by now is not switched to.
func TestARollbackStopsARebuildThatWasVerifiedAgainstWhatIsGone(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.remember("item", "retry with backoff", "team:pay")
		r.switches(domain.RebuildOrder{})
		r.at("ready", func() {
			if back, err := r.base.Versions.Rollback(t.Context()); err != nil || back != 1 {
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
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.at("catching_up", func() {
			r.in("newcomer").remember("item",
				"the first of a tenant that came meanwhile", "public")
		})
		if last := r.run(); last.State != "active" || last.Report.Items != 1 {
			t.Errorf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if k, err := r.base.Browser.Find(t.Context(), "newcomer", "item"); err != nil || k.Helpful != 1 {
			t.Errorf("got %+v (%v), want what came meanwhile", k, err)
		}
	})
}
