package embedding

import (
	"context"
	"sync"
	"time"
)

// limiter is a token bucket: it holds a second's worth of requests at most, and fills evenly.
type limiter struct {
	interval time.Duration // between two requests; 0 is no limit
	burst    time.Duration // how far ahead of now the bucket may be drained

	mutex sync.Mutex
	next  time.Time // when the bucket would be full again
}

func newLimiter(perSecond float64) *limiter {
	if perSecond <= 0 {
		return &limiter{}
	}
	interval := time.Duration(float64(time.Second) / perSecond)
	return &limiter{interval: interval, burst: max(time.Second, interval)}
}

// wait returns when a request may be sent, or ctx's error.
func (l *limiter) wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	pause := l.reserve(time.Now())
	if pause <= 0 {
		return nil
	}
	return sleep(ctx, pause)
}

// reserve takes a place in the queue and returns how long it is until it is due.
func (l *limiter) reserve(now time.Time) time.Duration {
	if l.interval == 0 {
		return 0
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(l.interval)
	return l.next.Sub(now) - l.burst
}
