package background

import (
	"context"
	"sync"
	"time"
)

const (
	// IdleTime is how long no command has run when the process counts as idle.
	IdleTime = 25 * time.Millisecond
	// LongestPause is how long a step yields at most.
	LongestPause = 2 * time.Second
	// parts is the time between the beginnings of two steps, as a multiple of a step's duration, if it is the only
	// work.
	parts = 10
)

// Worker lets the background work of one process yield to its commands. The zero value is ready. It is
// safe for concurrent use.
type Worker struct {
	mu       sync.Mutex
	commands int       // transactions of commands that run
	ended    time.Time // when the last one ended
	yielding int       // steps that have ended, and whose work pauses
	boosts   map[string]int
	boosted  chan struct{} // closed at the next boost; nil if no work pauses
}

// Command marks a transaction of commands as running until done is called.
func (w *Worker) Command() (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commands++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.commands--
		w.ended = time.Now()
	}
}

// Idle is how long no command has run; 0 while one runs.
func (w *Worker) Idle() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.commands > 0 {
		return 0
	}
	return time.Since(w.ended)
}

// Boost exempts the work of a name from yielding until done is called, because a caller waits for it.
func (w *Worker) Boost(name string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.boosts == nil {
		w.boosts = map[string]int{}
	}
	w.boosts[name]++
	if w.boosted != nil {
		close(w.boosted)
		w.boosted = nil
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.boosts[name]--; w.boosts[name] == 0 {
			delete(w.boosts, name)
		}
	}
}

// Yield pauses while commands run: for nine times the duration of the last step, or longer if other work pauses too,
// but at most for longest. It returns at once if the process is idle, the work is boosted, or ctx ends. Call it
// between steps.
func (w *Worker) Yield(ctx context.Context, name string, took, longest time.Duration) {
	w.mu.Lock()
	w.yielding++
	w.mu.Unlock()
	for began := time.Now(); ; {
		pause, boosted := w.pause(name, took, longest, time.Since(began))
		if pause > 0 {
			select {
			case <-time.After(pause):
				continue
			case <-boosted:
				continue
			case <-ctx.Done():
			}
		}
		w.mu.Lock()
		w.yielding--
		w.mu.Unlock()
		return
	}
}

// pause is the time until the next check; 0 to continue.
func (w *Worker) pause(name string, took, longest, waited time.Duration) (time.Duration, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	idleIn := IdleTime
	if w.commands == 0 {
		idleIn -= time.Since(w.ended)
	}
	if w.boosts[name] > 0 || idleIn <= 0 {
		return 0, nil
	}
	if w.boosted == nil {
		w.boosted = make(chan struct{})
	}
	owed := min(longest, took*time.Duration(parts*w.yielding-1))
	return min(idleIn, owed-waited), w.boosted
}
