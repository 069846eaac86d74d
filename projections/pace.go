package projections

import (
	"time"

	"github.com/annals-kb/annals/domain"
)

// pace is what is known of how fast a rebuild works.
type pace struct {
	entered time.Time     // when its phase began
	resumed int64         // streams that were loaded before this process went on
	loading time.Duration // of the streams that this process loaded
}

// Shares of a rebuild's time, beside the loading, which takes 1.
const (
	shareIndexing  = 0.3
	shareVerifying = 1.2
)

// soonest is how long a phase lasts at least before its pace says anything: the first items come with all that is done
// once.
const soonest = time.Second

// phaseIndexing is the second half of building: everything is loaded.
const phaseIndexing = "indexing"

// enter notes that a phase begins.
func (r *run) enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if phase == phaseIndexing && r.progress.Streams > r.pace.resumed {
		r.pace.loading = time.Since(r.pace.entered) * time.Duration(r.progress.Streams) / time.Duration(r.progress.Streams-r.pace.resumed)
	}
	r.progress.Phase, r.pace.entered = phase, time.Now()
}

// restart forgets what was counted: the slices are about to be counted anew.
func (r *run) restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Streams, r.progress.Events, r.pace.resumed = 0, 0, 0
}

// resume counts a slice that an interrupted rebuild has loaded.
func (r *run) resume(s sliceRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Streams += s.Streams
	r.progress.Events += s.Events
	r.pace.resumed += s.Streams
}

// estimate adds to a rebuild's progress how fast it works and when it will be done. While it loads,
// what comes after is taken to last as long as it usually does beside the loading.
func (p pace) estimate(progress domain.RebuildProgress, took, inPhase time.Duration) domain.RebuildProgress {
	progress.Took = took
	total := float64(max(progress.Total, progress.Streams))
	var done, left float64
	switch progress.Phase {
	case stateBuilding:
		done = float64(progress.Streams - p.resumed)
		left = total - float64(progress.Streams) + total*(shareIndexing+shareVerifying)
	case phaseIndexing:
		loading := float64(p.loading)
		progress.Left = time.Duration(max(shareIndexing*loading-float64(inPhase), 0) + shareVerifying*loading)
	case stateVerifying:
		done = float64(progress.Verified)
		left = total - done
	}
	if done > 0 && inPhase >= soonest {
		progress.Rate = done / inPhase.Seconds()
		progress.Left = time.Duration(max(left, 0) / progress.Rate * float64(time.Second))
	}
	return progress
}
