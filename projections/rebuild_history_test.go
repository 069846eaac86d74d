package projections_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
)

// Whatever happens, and whenever it happens during a rebuild, the version that was rebuilt equals the
// one that was written live, row by row, while both are kept.
func TestWhatIsRebuiltEqualsWhatWasLive(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.base.PackedRows, r.base.BatchRows = 3, 3
		live, stories, failed := 1, 0, false
		rapid.Check(t, func(rt *rapid.T) {
			stories++
			if stories > 15 && !failed {
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
				must(r.base.Compact(t.Context(), r.log.Log))(rt)
			}
			happen()
			last := r.runMeeting(happen, "building", "indexing", "catching_up", "verifying", "ready")
			if last.State != "active" {
				rt.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
			}
			happen()
			equal(rt, h.storedIn(live), h.storedIn(last.Version), "tables (-live +rebuilt)")
			equal(rt, folded(h.items()), h.storedIn(last.Version), "tables (-folded +rebuilt)")
			if back, err := r.base.Rollback(t.Context()); err != nil || back != live {
				rt.Fatalf("rolled back to version %d (%v), want %d", back, err, live)
			}
			happen()
			equal(rt, folded(h.items()), h.storedIn(live), "tables after going back (-folded +live)")
			if forth, err := r.base.Rollback(t.Context()); err != nil || forth != last.Version {
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
