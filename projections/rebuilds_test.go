package projections_test

import (
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
	db := databasetest.Open(t, databasetest.Migrated(t, database.Postgres)) // a SQLite file has one process anyway
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
