package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rebuild"
)

// rebuild runs a rebuild to its end and gives the version that is active then.
func (w *world) rebuild() int {
	w.t.Helper()
	rebuilder := rebuild.New(w.base.Versions, w.base.Models, w.log, w.followers)
	defer rebuilder.Close()
	progress := must(rebuilder.Start(w.t.Context(), domain.RebuildOrder{}))(w.t)
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	noError(w.t, rebuilder.Wait(ctx))
	return progress.Version
}

func (w *world) version() int {
	w.t.Helper()
	status := must(w.reader().Status(w.t.Context(), w.by.Tenant))(w.t)
	return status[0].Version
}

// Whatever happens, and whenever it happens during a rebuild, the version that was rebuilt equals the
// one that was written live, row by row, while both are kept.
func TestWhatIsRebuiltEqualsWhatWasLive(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.base.Indexer.MaxChanges = 3
		live, stories, failed, most := 1, 0, false, 15
		if testing.Short() {
			most = 4
		}
		rapid.Check(t, func(rt *rapid.T) {
			stories++
			if stories > most && !failed {
				return // a rebuild takes as long as a dozen stories without one
			}
			defer func() { failed = failed || rt.Failed() }()
			h := &telling{world: r.in(fmt.Sprint("tenant-", stories))}
			s := story{T: rt, by: r.by}
			happen := func() {
				for range rapid.IntRange(0, 2).Draw(rt, "batches") {
					h.outcomes(r.log.SubmitAll(t.Context(), h.bound(s.batch())))
					s.votes = len(h.votes)
				}
				noError(rt, r.base.Indexer.IndexWords(t.Context()))
			}
			happen()
			last := r.runMeeting(happen, "building", "indexing", "catching_up", "verifying", "ready")
			if last.State != "active" {
				rt.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
			}
			happen()
			equal(rt, h.storedIn(live), h.storedIn(last.Version), "tables (-live +rebuilt)")
			equal(rt, folded(h.items()), h.storedIn(last.Version), "tables (-folded +rebuilt)")
			if back, err := r.base.Versions.Rollback(t.Context()); err != nil || back != live {
				rt.Fatalf("rolled back to version %d (%v), want %d", back, err, live)
			}
			happen()
			equal(rt, folded(h.items()), h.storedIn(live), "tables after going back (-folded +live)")
			if forth, err := r.base.Versions.Rollback(t.Context()); err != nil || forth != last.Version {
				rt.Fatalf("switched to version %d (%v), want %d again", forth, err, last.Version)
			}
			r.purgeAfter(time.Minute)
			live = last.Version
		})
	})
}

// runMeeting rebuilds and lets something happen, on the test's own goroutine, when it enters stages.
func (r *rebuilding) runMeeting(happen func(), stages ...string) domain.Rebuild {
	r.t.Helper()
	met, goOn := make(chan struct{}), make(chan struct{})
	for _, stage := range stages {
		r.at(stage, func() { met <- struct{}{}; <-goOn })
	}
	must(r.Start(r.t.Context(), domain.RebuildOrder{}))(r.t)
	for range stages {
		select {
		case <-met:
			happen()
			goOn <- struct{}{}
		case <-time.After(time.Minute):
			r.t.Fatalf("the rebuild did not come far: %+v", r.last())
		}
	}
	return r.ended()
}

// recorded is what the record says happened to the projection, and who did it.
func (w *world) recorded() (story []string) {
	w.t.Helper()
	all := must(w.log.Reader.Stream(w.t.Context(), domain.SystemTenant, domain.ProjectionStream("knowledge")))(w.t)
	for _, event := range all {
		name := strings.TrimPrefix(event.Name, "projection.")
		data := string(event.Data)
		version := data[len(`{"version":`):strings.IndexAny(data, ",}")]
		story = append(story, fmt.Sprintf("%s %s by %s", name, version, event.Actor))
	}
	return story
}

// stagesOf are those of a version that the server reached by itself after it was begun.
func stagesOf(version int, stages ...string) (story []string) {
	for _, stage := range stages {
		story = append(story, fmt.Sprintf("%s %d by agent:annals", stage, version))
	}
	return story
}

func TestWhatHappensToAProjectionIsRecorded(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.rememberMany(5, "what the log says")
		all := rebuild.Rebuilds{Rebuilder: r.Rebuilder}
		operator := domain.Principal{Tenant: "acme", Subject: "user:olga", Authentication: "key:x"}
		asked := domain.WithCaller(t.Context(), operator, domain.Origin{RequestID: "request-1"})
		rebuild := func(order domain.RebuildOrder) {
			must(all.Start(asked, "knowledge", order))(t)
			r.ended()
		}
		rebuild(domain.RebuildOrder{})
		for range 2 {
			noError(t, all.Rollback(asked, "knowledge"))
		}
		noError(t, all.Retire(asked, "knowledge"))
		rebuild(domain.RebuildOrder{WhatIf: true})
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_4 SET helpful = 99 WHERE id = 'item-3'") })
		rebuild(domain.RebuildOrder{})
		cancelled := make(chan error, 1)
		r.during("verifying", func(ctx context.Context) {
			go func() { _, err := all.Cancel(asked, "knowledge"); cancelled <- err }()
			<-ctx.Done()
		})
		rebuild(domain.RebuildOrder{})
		report(t, <-cancelled)
		whole := []string{"loaded", "caught_up", "verified"}
		olga := func(what string) []string { return []string{what + " by user:olga"} }
		want := slices.Concat(
			olga("started 2"), stagesOf(2, append(whole, "switched")...), olga("rolled_back 1"), olga("rolled_back 2"),
			olga("retired 1"),
			olga("started 3"), stagesOf(3, append(whole, "retired")...),
			olga("started 4"), stagesOf(4, "loaded", "caught_up", "refused"),
			olga("started 5"), stagesOf(5, "loaded", "caught_up"), olga("cancelled 5"),
		)
		equal(t, r.recorded(), want, "(-recorded +happened)")
		if wrong := r.base.Versions.DropRetired(t.Context()); wrong != nil {
			t.Error(wrong)
		}
		equal(t, r.recorded(), want, "after a purge (-recorded +happened)")
	})
}
