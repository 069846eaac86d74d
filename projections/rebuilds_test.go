package projections_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// rebuilds are the rebuilds of a world's projections by one process.
func (w *world) rebuilds() rebuild.Rebuilds {
	rebuilder := rebuild.New(w.base.Versions, w.base.Models, w.log, w.followers)
	w.t.Cleanup(rebuilder.Close)
	return rebuild.Rebuilds{Rebuilder: rebuilder}
}

// states are the versions of knowledge that are there, with their states.
func (w *world) states() []string {
	w.t.Helper()
	all := must(w.reader().Status(w.t.Context(), w.by.Tenant))(w.t)
	var states []string
	for _, s := range all {
		if s.Name == "knowledge" {
			states = append(states, fmt.Sprint(s.Version, " ", s.State))
		}
	}
	return states
}

func TestAPlanSaysWhatARebuildTakes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
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
		changed := newWorld(t, w.db, projections.Settings{Policy: policy})
		plan := must(changed.rebuilds().Plan(t.Context(), "knowledge", domain.RebuildOrder{Confidence: policy.Name}))(t)
		if plan.Streams != 51 || plan.Events != 52 || plan.Active != 1 || plan.Version != 2 {
			t.Errorf("got %+v, want 51 items of 52 events as version 2", plan)
		}
		if plan.Bytes <= 0 || plan.Need <= plan.Bytes || plan.Took <= 0 ||
			(plan.Free != nil) != (w.db.Engine == database.SQLite) {
			t.Errorf("got %+v, want bytes and time", plan)
		}
		equal(t, plan.Intended, []string{"confidence", "expired_confidence"}, "(-got +want)")
		equal(t, w.states(), []string{"1 active"}, "after planning (-got +want)")
	})
}

func TestAPlanCountsWhatIsLoadedAndNotWhatRebuildsRecord(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		for range 2 {
			plan, err := rebuild.Rebuilds{Rebuilder: r.Rebuilder}.Plan(t.Context(), "knowledge", domain.RebuildOrder{})
			if err != nil || plan.Streams != 12 || plan.Events != 15 {
				t.Errorf("got %+v (%v), want 12 items from 15 events", plan, err)
			}
			r.run()
		}
	})
}

func TestOneProcessRebuildsAtATime(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Postgres(t)) // a SQLite file has one process anyway
	noError(t, database.Migrate(t.Context(), db))
	w := newRebuilding(t, db, projections.Settings{})
	w.remember("one", "what the log says", "team:pay")
	verifying, goOn := make(chan struct{}), make(chan struct{})
	w.at("verifying", func() {
		close(verifying)
		<-goOn
	})
	here, there := rebuild.Rebuilds{Rebuilder: w.Rebuilder}, newWorld(t, db, projections.Settings{}).rebuilds()
	must(here.Start(t.Context(), "knowledge", domain.RebuildOrder{}))(t)
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
	w.isActive(w.ended(), 2)
	equal(t, w.states(), []string{"2 active", "1 standby"}, "versions (-got +want)")
}

func TestVersionsThatWereDroppedAreNotShown(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, w *rebuilding) {
		w.remember("one", "what the log says", "team:pay")
		rebuilds := rebuild.Rebuilds{Rebuilder: w.Rebuilder}
		w.during("verifying", func(ctx context.Context) { <-ctx.Done() })
		must(rebuilds.Start(t.Context(), "knowledge", domain.RebuildOrder{}))(t)
		ended, err := rebuilds.Cancel(t.Context(), "knowledge")
		if err != nil || ended.State != "retired" || ended.Error != "cancelled" || ended.Progress != nil {
			t.Errorf("got %+v (%v), want it cancelled", ended, err)
		}
		equal(t, w.states(), []string{"1 active", "2 retired"}, "versions (-got +want)")
		w.clock.forward(time.Hour)
		noError(t, w.base.Versions.DropRetired(t.Context()))
		equal(t, w.states(), []string{"1 active"}, "after the dropped version is gone (-got +want)")
		if last, err := rebuilds.Last(t.Context(), "knowledge"); err != nil || last.Error != "cancelled" {
			t.Errorf("got %+v (%v), want what became of it still known", last, err)
		}
	})
}

// tablesOf lists the tables of a version that are there.
func (r *rebuilding) tablesOf(version int) []string {
	r.t.Helper()
	return slices.DeleteFunc(r.tables(), func(name string) bool {
		rest, found := strings.CutPrefix(name, fmt.Sprintf("knowledge_%d", version))
		return !found || rest != "" && rest[0] != '_'
	})
}

func (r *rebuilding) purgeAfter(d time.Duration) {
	r.t.Helper()
	r.clock.forward(d)
	noError(r.t, r.base.Versions.DropRetired(r.t.Context()))
}

func TestTablesThatNobodyUsesAreDroppedAfterAWhile(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		for i := range 300 {
			r.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d: retry with backoff", i), "team:pay")
		}
		want := func(when string, versions ...int) {
			t.Helper()
			var kept []int
			for version := range 6 {
				if len(r.tablesOf(version)) > 0 {
					kept = append(kept, version)
				}
			}
			if got, want := fmt.Sprint(kept), fmt.Sprint(versions); got != want {
				t.Errorf("%s: there are tables of the versions %s, want %s", when, got, want)
			}
		}
		r.run()
		r.purgeAfter(time.Hour)
		want("while the first version is kept for a rollback", 1, 2)

		r.run()
		r.purgeAfter(time.Second)
		want("just after the second switch", 1, 2, 3)
		r.purgeAfter(10 * time.Second) // retires the first
		r.purgeAfter(10 * time.Second)
		want("before a reader must have finished", 1, 2, 3)
		r.purgeAfter(time.Minute)
		want("when nobody can read it any more", 2, 3)

		r.at("verifying", func() { r.corrupt("DELETE FROM knowledge_4") })
		r.run()
		r.purgeAfter(time.Second)
		want("just after a rebuild failed", 2, 3, 4)
		r.purgeAfter(time.Minute)
		want("a while after a rebuild failed", 2, 3)

		noError(t, r.base.Versions.Retire(t.Context()))
		if _, err := r.base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to what was retired: got %v", err)
		}
		r.purgeAfter(time.Minute)
		want("after the way back was given up", 3)
		if got := r.tablesOf(3); len(got) != 5 {
			t.Errorf("the active version has the tables %v, want five", got)
		}
		if found := r.find(domain.Search{Text: "backoff"}); len(found) != 10 {
			t.Errorf("found %v, want ten", found)
		}
	})
}
