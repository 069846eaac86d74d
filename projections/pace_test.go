package projections

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestAnEstimateCountsOnlyWhatThisProcessDid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pace     pace
		progress domain.RebuildProgress
		rate     float64
		least    time.Duration
		most     time.Duration
	}{
		"nothing yet":  {pace{}, domain.RebuildProgress{Phase: stateBuilding, Total: 100}, 0, 0, 0},
		"resumed only": {pace{resumed: 50}, domain.RebuildProgress{Phase: stateBuilding, Total: 100, Streams: 50}, 0, 0, 0},
		"loading":      {pace{resumed: 50}, domain.RebuildProgress{Phase: stateBuilding, Total: 100, Streams: 70}, 2, 15 * time.Second, 5 * time.Minute},
		"indexing": {
			pace{loading: 20 * time.Second}, domain.RebuildProgress{Phase: phaseIndexing, Total: 100, Streams: 99}, 0, 20 * time.Second, time.Minute,
		},
		"catching up": {pace{}, domain.RebuildProgress{Phase: stateCatching, Total: 100, Streams: 100}, 0, 0, 0},
		"verifying":   {pace{}, domain.RebuildProgress{Phase: stateVerifying, Total: 100, Streams: 100, Verified: 40}, 4, 15 * time.Second, 15 * time.Second},
		"more than were counted": {
			pace{}, domain.RebuildProgress{Phase: stateVerifying, Total: 100, Streams: 100, Verified: 120}, 12, 0, 0,
		},
	} {
		got := c.pace.estimate(c.progress, time.Minute, 10*time.Second)
		if got.Rate != c.rate || got.Left < c.least || got.Left > c.most || got.Took != time.Minute {
			t.Errorf("%s: got %v a second, %v left; want %v and %v to %v", name, got.Rate, got.Left, c.rate, c.least, c.most)
		}
	}
}

func TestTheFirstItemsOfAPhaseSayNothingOfItsPace(t *testing.T) {
	t.Parallel()
	progress := domain.RebuildProgress{Phase: stateVerifying, Total: 3000, Streams: 3000, Verified: 1}
	if got := (pace{}).estimate(progress, time.Minute, 160*time.Millisecond); got.Rate != 0 || got.Left != 0 {
		t.Errorf("got %v a second, %v left, want neither", got.Rate, got.Left)
	}
}
