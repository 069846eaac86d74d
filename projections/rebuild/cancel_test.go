package rebuild_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestARebuildIsCancelledAtAnyStage(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.RememberMany(200, "retry with backoff")
		r.Rebuilder.SliceStreams, r.Rebuilder.BatchRows = 20, 100
		if err := r.Rebuilder.Cancel(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("cancelling nothing: got %v", err)
		}
		for i, stage := range []string{"building", "indexing", "catching_up", "verifying", "ready"} {
			cancelled := make(chan error, 1)
			r.During(stage, func(ctx context.Context) {
				go func() { cancelled <- r.Rebuilder.Cancel(t.Context()) }()
				<-ctx.Done() // Cancel has asked
			})
			last := r.Run()
			r.At(stage, nil)
			err := <-cancelled
			if err != nil || last.State != "retired" || last.Version != i+2 || last.Active != 1 || last.Error != "cancelled" {
				t.Errorf("%s: got %v, version %d %s, version %d active and %q", stage, err, last.Version, last.State,
					last.Active, last.Error)
			}
			r.Submit(r.Helpful("item-1", stage))
		}
		r.Switches(domain.RebuildOrder{})
	})
}

// interrupt begins a rebuild, and ends its process at a stage.
func interrupt(r *Rebuilding, stage string, order domain.RebuildOrder) {
	r.T.Helper()
	reached := make(chan struct{})
	r.During(stage, func(ctx context.Context) { close(reached); <-ctx.Done() })
	Must(r.Rebuilder.Start(r.T.Context(), order))(r.T)
	<-reached
	r.Rebuilder.Close()
}

func TestAnInterruptedRebuildGoesOnInAnotherProcess(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, one *Rebuilding) {
		one.RememberMany(200, "retry with backoff")
		other := NewRebuilding(t, one.DB, projections.Settings{}) // as another process would be, on PostgreSQL
		interrupt(one, "catching_up", domain.RebuildOrder{})
		if last := one.Last(); last.State != "catching_up" || last.Progress == nil || last.Progress.Streams != 200 {
			t.Errorf("after its process ended: %+v, want it as it was", last)
		}
		NoError(t, other.Rebuilder.Resume(t.Context()))
		other.IsActive(other.Ended(), 2)
	})
}

// A rebuild whose lease is lost stops, and goes on when it is resumed.
func TestALostLeaseInterruptsARebuild(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := NewRebuildingWith(t, db, projections.Settings{}, events.Options{Lease: time.Second})
		r.Remember("item", "retry with backoff", "team:pay")
		r.During("indexing", func(ctx context.Context) {
			r.Corrupt("UPDATE leases SET holder = 'another', expires_at = '2026-01-01T00:00:00.000000Z' WHERE projection = " +
				"'rebuild'")
			<-ctx.Done() // it has looked
		})
		if last := r.Run(); last.State != "building" {
			t.Errorf("version %d is %s: %s, want it interrupted", last.Version, last.State, last.Error)
		}
		other := NewRebuilding(t, db, projections.Settings{})
		NoError(t, other.Rebuilder.Resume(t.Context()))
		other.IsActive(other.Ended(), 2)
	})
}

// What another process gives up is not worked on any more.
func TestARebuildIsCancelledByAnotherProcess(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		one, other := NewRebuilding(t, db, projections.Settings{}), NewRebuilding(t, db, projections.Settings{})
		one.Remember("item", "retry with backoff", "team:pay")
		one.At("verifying", func() {
			Report(t, other.Rebuilder.Cancel(t.Context()))
		})
		if last := one.Run(); last.State != "retired" || last.Active != 1 {
			t.Errorf("version %d is %s: %s, want it cancelled", last.Version, last.State, last.Error)
		}
	})
}

// A version that was verified against another one than readers read by now is not switched to.
func TestARollbackStopsARebuildThatWasVerifiedAgainstWhatIsGone(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.Remember("item", "retry with backoff", "team:pay")
		r.Switches(domain.RebuildOrder{})
		r.At("ready", func() {
			if back, err := r.Base.Versions.Rollback(t.Context()); err != nil || back != 1 {
				t.Errorf("rolled back to %d: %v", back, err)
			}
		})
		if last := r.Run(); last.State != "failed" || last.Active != 1 || last.Error == "" {
			t.Errorf("version %d is %s (%s) and %d active, want the rollback to stand", last.Version, last.State,
				last.Error, last.Active)
		}
	})
}

func TestAnEmptyLogIsRebuilt(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.At("catching_up", func() {
			r.In("newcomer").Remember("item",
				"the first of a tenant that came meanwhile", "public")
		})
		if last := r.Run(); last.State != "active" || last.Report.Items != 1 {
			t.Errorf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if k, err := r.Base.Browser.Find(t.Context(), "newcomer", "item"); err != nil || k.Helpful != 1 {
			t.Errorf("got %+v (%v), want what came meanwhile", k, err)
		}
	})
}
