package events

import (
	"context"
	"math"
	"sync"
	"time"
)

const (
	lull     = 25 * time.Millisecond // without commands: nobody is writing just now
	share    = 10                    // all work in the background together gets a tenth of the time, at least
	longStay = 2 * time.Second
)

// GiveWay lets work in the background wait while this process writes commands, so that it does not
// take the database, the lock and the processor from somebody who waits for an answer. The busier the log
// has been of late, the longer: of a log that is never idle, everything that gives way together takes a
// tenth of the time. It returns when no command came for a moment, and after two seconds at the latest (a quarter of one if
// it is that of [AddWholePages]):
// the work goes on, in larger pieces, however busy the log is; and at once if it is a projection's, and
// somebody waits for that ([Log.Hurry]). Call it between pieces, with how long the last one took, and with
// the projection's name if it is one.
func (l *Log) GiveWay(ctx context.Context, took time.Duration, projection string) {
	l.yielding.Add(1)
	defer l.yielding.Add(-1)
	longest := l.longest(projection)
	for began := time.Now(); ; {
		wanted := l.haste.wanted(projection)
		quiet, busy := l.busyness()
		owed := time.Duration(float64(took) * busy * busy * float64(share*l.yielding.Load()-1))
		pause := min(quiet, lull, min(owed, longest)-time.Since(began))
		if pause <= 0 || wanted == nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-wanted:
		case <-ctx.Done():
			return
		}
	}
}

// busyness is after what time it may be quiet, 0 if it is, and how much of its time this process has been
// writing commands lately, 0 to 1.
func (l *Log) busyness() (quiet time.Duration, share float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.queues) > 0 {
		return lull, l.load.level(now)
	}
	return lull - now.Sub(l.load.since), l.load.level(now)
}

// Idle is for how long this process has written no command; 0 while it writes some.
func (l *Log) Idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues) > 0 {
		return 0
	}
	return time.Since(l.load.since)
}

// load is how much of the time there was something to write, of late: what was half a second ago counts a
// tenth of what is now.
type load struct {
	writing bool
	since   time.Time // it is as it is
	before  float64   // the level then
}

func (l *load) level(now time.Time) float64 {
	const fades = 200 * time.Millisecond
	to := 0.0
	if l.writing {
		to = 1
	}
	return to + (l.before-to)*math.Exp(-float64(now.Sub(l.since))/float64(fades))
}

func (l *load) turn(writing bool) {
	now := time.Now()
	*l = load{writing: writing, since: now, before: l.level(now)}
}

// haste is which projections somebody waits for.
type haste struct {
	mu      sync.Mutex
	waiting map[string]int
	more    chan struct{} // closed when somebody begins to wait
}

// Hurry lets a projection of this process give way to nobody, until done is called: somebody waits for it.
func (l *Log) Hurry(projection string) (done func()) {
	h := &l.haste
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[projection]++
	close(h.more)
	h.more = make(chan struct{})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.waiting[projection]--; h.waiting[projection] == 0 {
			delete(h.waiting, projection)
		}
	}
}

// wanted is closed when somebody begins to wait for any projection; nil if somebody waits for this one.
func (h *haste) wanted(projection string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[projection] > 0 {
		return nil
	}
	return h.more
}
