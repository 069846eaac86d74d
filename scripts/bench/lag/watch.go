package main

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/events"
)

// watch notes when a projection has taken in what. Nobody waits for it, since the projection would hurry.
type watch struct {
	name string

	mu    sync.Mutex
	taken map[int64]time.Time // by position
}

func newWatch(name string) *watch { return &watch{name: name, taken: map[int64]time.Time{}} }

// over prepares as before, and notes when the change is committed.
func (w *watch) over(prepare events.Preparer) events.Preparer {
	return func(ctx context.Context, page events.Page) (events.Change, error) {
		change, err := prepare(ctx, page)
		if err != nil {
			return nil, err
		}
		return watched{change, w, page}, nil
	}
}

type watched struct {
	change events.Change
	watch  *watch
	page   events.Page
}

// Write implements [events.Change].
func (w watched) Write(ctx context.Context, tx bun.IDB) error { return w.change.Write(ctx, tx) }

// Done implements [events.Change].
func (w watched) Done() {
	w.change.Done()
	now := time.Now()
	w.watch.mu.Lock()
	defer w.watch.mu.Unlock()
	for _, event := range w.page.Events {
		w.watch.taken[event.Position] = now
	}
}

// lags are how long after its answer each position was taken in; the first position is 1.
func (w *watch) lags(answered []time.Time) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lags []time.Duration
	for i, at := range answered {
		if taken, found := w.taken[int64(i)+1]; found {
			lags = append(lags, max(0, taken.Sub(at)))
		}
	}
	return lags
}
