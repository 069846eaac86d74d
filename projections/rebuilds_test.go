package projections_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// rebuilds are the rebuilds of a world's projections by one process.
func (w *world) rebuilds() rebuild.Rebuilds {
	rebuilder := projections.NewRebuilder(w.base, w.log)
	w.t.Cleanup(rebuilder.Close)
	return rebuild.Rebuilds{Rebuilder: rebuilder}
}

// ended waits until a rebuild has ended, in whichever process.
func (w *world) ended(r rebuild.Rebuilds) domain.Rebuild {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		last, err := r.Last(w.t.Context(), "knowledge")
		if err != nil {
			w.t.Fatal(err)
		}
		if !last.Unfinished() {
			return last
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the rebuild does not end: %+v", last)
		}
	}
}

// states are the versions of knowledge that are there, with their states.
func (w *world) states() []string {
	w.t.Helper()
	all, err := w.reader().Status(w.t.Context(), w.by.Tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	var states []string
	for _, s := range all {
		if s.Name == "knowledge" {
			states = append(states, fmt.Sprint(s.Version, " ", s.State))
		}
	}
	return states
}

func TestAPlanSaysWhatARebuildTakes(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		empty, err := w.rebuilds().Plan(t.Context(), "knowledge", domain.RebuildOrder{})
		if err != nil || empty.Streams != 0 || empty.Events != 0 || empty.Took != 0 {
			t.Errorf("of an empty log: %+v (%v)", empty, err)
		}
		for i := range 50 {
			w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d about planning before doing", i), "team:pay")
		}
		w.in("other").remember("theirs", "in another tenant", "team:pay")
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "item-7"}})

		policy := domain.ConfidencePolicy{Name: "another/1", Confidence: domain.DefaultConfidence().Confidence}
		changed := newWorld(t, db, projections.Settings{Policy: policy})
		plan, err := changed.rebuilds().Plan(t.Context(), "knowledge", domain.RebuildOrder{Confidence: policy.Name})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Streams != 51 || plan.Events != 52 || plan.Active != 1 || plan.Version != 2 {
			t.Errorf("got %+v, want 51 items of 52 events as version 2", plan)
		}
		if plan.Bytes <= 0 || plan.Need <= plan.Bytes || plan.Took <= 0 ||
			(plan.Free != nil) != (db.Engine == database.SQLite) {
			t.Errorf("got %+v, want bytes and time", plan)
		}
		if diff := cmp.Diff(plan.Intended, []string{"confidence", "expired_confidence"}); diff != "" {
			t.Error(diff)
		}
		if got := w.states(); !slices.Equal(got, []string{"1 active"}) {
			t.Errorf("planning has left %q", got)
		}
	})
}

func TestAPlanCountsWhatIsLoadedAndNotWhatRebuildsRecord(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := lived(t, db, projections.Settings{})
		for range 2 {
			plan, err := rebuild.Rebuilds{Rebuilder: r.Rebuilder}.Plan(t.Context(), "knowledge", domain.RebuildOrder{})
			if err != nil || plan.Streams != 12 || plan.Events != 15 {
				t.Errorf("got %+v (%v), want 12 items from 15 events", plan, err)
			}
			r.run()
		}
	})
}

func TestARebuildOutlivesItsProcess(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newRebuilding(t, db, projections.Settings{})
		w.remember("one", "what the log says", "team:pay")
		verifying := make(chan struct{})
		w.during("verifying", func(ctx context.Context) {
			close(verifying)
			<-ctx.Done() // the process ends in the middle
		})
		first := rebuild.Rebuilds{Rebuilder: w.Rebuilder}
		if _, err := first.Start(t.Context(), "knowledge", domain.RebuildOrder{}); err != nil {
			t.Fatal(err)
		}
		<-verifying
		first.Close()

		again := newWorld(t, db, projections.Settings{Logger: databasetest.Log(t)})
		second := again.rebuilds()
		last, err := second.Last(t.Context(), "knowledge")
		if err != nil || !last.Unfinished() || last.State != "verifying" || last.Progress.Streams != 1 {
			t.Errorf("in between, got %+v (%v), want a rebuild that has loaded its item", last, err)
		}
		if err := second.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last := again.ended(second); last.State != "active" || last.Version != 2 || !last.Report.Passed {
			t.Errorf("got %+v, want version 2 verified and active", last)
		}
	})
}

func TestOneProcessRebuildsAtATime(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Postgres(t)) // a SQLite file has one process anyway
	if err := database.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := newRebuilding(t, db, projections.Settings{})
	w.remember("one", "what the log says", "team:pay")
	verifying, goOn := make(chan struct{}), make(chan struct{})
	w.at("verifying", func() {
		close(verifying)
		<-goOn
	})
	here, there := rebuild.Rebuilds{Rebuilder: w.Rebuilder}, newWorld(t, db, projections.Settings{}).rebuilds()
	if _, err := here.Start(t.Context(), "knowledge", domain.RebuildOrder{}); err != nil {
		t.Fatal(err)
	}
	<-verifying
	if err := there.Resume(t.Context()); err != nil {
		t.Errorf("resuming what another process works on: %v", err)
	}
	if _, err := there.Start(t.Context(), "knowledge", domain.RebuildOrder{}); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if last, err := there.Last(t.Context(), "knowledge"); err != nil || last.Progress == nil ||
		last.Progress.Streams != 1 {
		t.Errorf("seen from there: %+v (%v)", last, err)
	}
	close(goOn)
	if last := w.world.ended(here); last.State != "active" {
		t.Errorf("got %+v", last)
	}
	if got := w.states(); !slices.Equal(got, []string{"2 active", "1 standby"}) {
		t.Errorf("got %q", got)
	}
}

func TestVersionsThatWereDroppedAreNotShown(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newRebuilding(t, db, projections.Settings{})
		w.remember("one", "what the log says", "team:pay")
		rebuilds := rebuild.Rebuilds{Rebuilder: w.Rebuilder}
		w.during("verifying", func(ctx context.Context) { <-ctx.Done() })
		if _, err := rebuilds.Start(t.Context(), "knowledge", domain.RebuildOrder{}); err != nil {
			t.Fatal(err)
		}
		ended, err := rebuilds.Cancel(t.Context(), "knowledge")
		if err != nil || ended.State != "retired" || ended.Error != "cancelled" || ended.Progress != nil {
			t.Errorf("got %+v (%v), want it cancelled", ended, err)
		}
		if got := w.states(); !slices.Equal(got, []string{"1 active", "2 retired"}) {
			t.Errorf("got %q", got)
		}
		w.clock.forward(time.Hour)
		if err := w.base.DropRetired(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.states(); !slices.Equal(got, []string{"1 active"}) {
			t.Errorf("got %q, want the dropped version gone", got)
		}
		if last, err := rebuilds.Last(t.Context(), "knowledge"); err != nil || last.Error != "cancelled" {
			t.Errorf("got %+v (%v), want what became of it still known", last, err)
		}
	})
}
