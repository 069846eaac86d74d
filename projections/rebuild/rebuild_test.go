package rebuild_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

// Whatever happens, and whenever it happens during a rebuild, the version that was rebuilt equals the
// one that was written live, row by row, while both are kept.
func TestWhatIsRebuiltEqualsWhatWasLive(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.Base.Indexer.MaxChanges = 3
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
			h := &Telling{World: r.In(fmt.Sprint("tenant-", stories))}
			s := Story{T: rt, By: r.By}
			happen := func() {
				for range rapid.IntRange(0, 2).Draw(rt, "batches") {
					h.Outcomes(r.Log.SubmitAll(t.Context(), h.Bound(s.Batch())))
					s.Votes = len(h.Votes)
				}
				NoError(rt, r.Base.Indexer.IndexWords(t.Context()))
			}
			happen()
			last := runMeeting(r, happen, "building", "indexing", "catching_up", "verifying", "ready")
			if last.State != "active" {
				rt.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
			}
			happen()
			Equal(rt, h.StoredIn(live), h.StoredIn(last.Version), "tables (-live +rebuilt)")
			Equal(rt, Folded(h.Items()), h.StoredIn(last.Version), "tables (-folded +rebuilt)")
			if back, err := r.Base.Versions.Rollback(t.Context()); err != nil || back != live {
				rt.Fatalf("rolled back to version %d (%v), want %d", back, err, live)
			}
			happen()
			Equal(rt, Folded(h.Items()), h.StoredIn(live), "tables after going back (-folded +live)")
			if forth, err := r.Base.Versions.Rollback(t.Context()); err != nil || forth != last.Version {
				rt.Fatalf("switched to version %d (%v), want %d again", forth, err, last.Version)
			}
			r.PurgeAfter(time.Minute)
			live = last.Version
		})
	})
}

// runMeeting rebuilds and lets something happen, on the test's own goroutine, when it enters stages.
func runMeeting(r *Rebuilding, happen func(), stages ...string) domain.Rebuild {
	r.T.Helper()
	met, goOn := make(chan struct{}), make(chan struct{})
	for _, stage := range stages {
		r.At(stage, func() { met <- struct{}{}; <-goOn })
	}
	Must(r.Rebuilder.Start(r.T.Context(), domain.RebuildOrder{}))(r.T)
	for range stages {
		select {
		case <-met:
			happen()
			goOn <- struct{}{}
		case <-time.After(5 * time.Minute):
			r.T.Fatalf("the rebuild did not come far: %+v", r.Last())
		}
	}
	return r.Ended()
}

func TestWhatHappensToAProjectionIsRecorded(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.RememberMany(5, "what the log says")
		all := rebuild.Rebuilds{Rebuilder: r.Rebuilder}
		operator := domain.Principal{Tenant: "acme", Subject: "user:olga", Authentication: "key:x"}
		asked := domain.WithCaller(t.Context(), operator, domain.Origin{RequestID: "request-1"})
		rebuild := func(order domain.RebuildOrder) {
			Must(all.Start(asked, "knowledge", order))(t)
			r.Ended()
		}
		rebuild(domain.RebuildOrder{})
		for range 2 {
			NoError(t, all.Rollback(asked, "knowledge"))
		}
		NoError(t, all.Retire(asked, "knowledge"))
		rebuild(domain.RebuildOrder{WhatIf: true})
		r.At("verifying", func() { r.Corrupt("UPDATE knowledge_4 SET helpful = 99 WHERE id = 'item-3'") })
		rebuild(domain.RebuildOrder{})
		cancelled := make(chan error, 1)
		r.During("verifying", func(ctx context.Context) {
			go func() { _, err := all.Cancel(asked, "knowledge"); cancelled <- err }()
			<-ctx.Done()
		})
		rebuild(domain.RebuildOrder{})
		Report(t, <-cancelled)
		whole := []string{"loaded", "caught_up", "verified"}
		olga := func(what string) []string { return []string{what + " by user:olga"} }
		want := slices.Concat(
			olga("started 2"), StagesOf(2, append(whole, "switched")...), olga("rolled_back 1"), olga("rolled_back 2"),
			olga("retired 1"),
			olga("started 3"), StagesOf(3, append(whole, "retired")...),
			olga("started 4"), StagesOf(4, "loaded", "caught_up", "refused"),
			olga("started 5"), StagesOf(5, "loaded", "caught_up"), olga("cancelled 5"),
		)
		Equal(t, r.Recorded(), want, "(-recorded +happened)")
		if wrong := r.Base.Versions.DropRetired(t.Context()); wrong != nil {
			t.Error(wrong)
		}
		Equal(t, r.Recorded(), want, "after a purge (-recorded +happened)")
	})
}
