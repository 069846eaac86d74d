package rebuild_test

import (
	"context"
	"errors"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

// rebuilds are the rebuilds of a world's projections by one process.
func rebuilds(w *World) rebuild.Rebuilds {
	rebuilder := rebuild.New(w.Base.Versions, w.Base.Models, w.Log, w.Followers)
	w.T.Cleanup(rebuilder.Close)
	return rebuild.Rebuilds{Rebuilder: rebuilder}
}

func TestAPlanSaysWhatARebuildTakes(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		empty, err := rebuilds(w).Plan(t.Context(), "knowledge", domain.RebuildOrder{})
		if err != nil || empty.Streams != 0 || empty.Events != 0 || empty.Took != 0 {
			t.Errorf("of an empty log: %+v (%v)", empty, err)
		}
		w.RememberMany(50, "lesson %d about planning before doing")
		w.In("other").Remember("theirs", "in another tenant", "team:pay")
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "item-7"}})

		policy := domain.ConfidencePolicy{Name: "another/1", Confidence: domain.DefaultConfidence().Confidence}
		changed := NewWorld(t, w.DB, projections.Settings{Policy: policy})
		plan := Must(rebuilds(changed).Plan(t.Context(), "knowledge", domain.RebuildOrder{Confidence: policy.Name}))(t)
		if plan.Streams != 51 || plan.Events != 52 || plan.Active != 1 || plan.Version != 2 {
			t.Errorf("got %+v, want 51 items of 52 events as version 2", plan)
		}
		if plan.Bytes <= 0 || plan.Need <= plan.Bytes || plan.Took <= 0 ||
			(plan.Free != nil) != (w.DB.Engine == database.SQLite) {
			t.Errorf("got %+v, want bytes and time", plan)
		}
		Equal(t, plan.Intended, []string{"confidence", "expired_confidence"}, "(-got +want)")
		Equal(t, w.States(), []string{"1 active"}, "after planning (-got +want)")
	})
}

func TestAPlanCountsWhatIsLoadedAndNotWhatRebuildsRecord(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		for range 2 {
			plan, err := rebuild.Rebuilds{Rebuilder: r.Rebuilder}.Plan(t.Context(), "knowledge", domain.RebuildOrder{})
			if err != nil || plan.Streams != 12 || plan.Events != 15 {
				t.Errorf("got %+v (%v), want 12 items from 15 events", plan, err)
			}
			r.Run()
		}
	})
}

// Whoever sees that a version is served may order the next.
func TestARebuildThatIsAboutToEndIsWaitedFor(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		var err error
		r.At("active", func() {
			gone, leave := context.WithCancel(t.Context())
			leave()
			_, err = r.Rebuilder.Start(gone, domain.RebuildOrder{})
		})
		r.Run()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want to have waited until the caller had gone", err)
		}
	})
}

func TestOneProcessRebuildsAtATime(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.Postgres)) // a SQLite file has one process anyway
	w := NewRebuilding(t, db, projections.Settings{})
	w.Remember("one", "what the log says", "team:pay")
	verifying, goOn := make(chan struct{}), make(chan struct{})
	w.At("verifying", func() {
		close(verifying)
		<-goOn
	})
	here, there := rebuild.Rebuilds{Rebuilder: w.Rebuilder}, rebuilds(NewWorld(t, db, projections.Settings{}))
	Must(here.Start(t.Context(), "knowledge", domain.RebuildOrder{}))(t)
	<-verifying
	if err := there.Resume(t.Context()); err != nil {
		t.Errorf("resuming what another process works on: %v", err)
	}
	if _, running := there.Progress(); running {
		t.Error("a second process goes on with what another one does")
	}
	if _, err := there.Start(t.Context(), "knowledge", domain.RebuildOrder{}); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if last, err := there.Last(t.Context(), "knowledge"); err != nil || last.Progress == nil ||
		last.Progress.Streams != 1 {
		t.Errorf("seen from there: %+v (%v)", last, err)
	}
	close(goOn)
	w.IsActive(w.Ended(), 2)
	Equal(t, w.States(), []string{"2 active", "1 standby"}, "versions (-got +want)")
}
