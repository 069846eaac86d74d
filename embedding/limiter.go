package embedding

import (
	"context"
	"sync"
	"time"
)

// Limiter is a token bucket: it holds a second's worth of requests at most, and fills evenly. It is safe for concurrent use.
type Limiter struct {
	interval time.Duration // between two requests; 0 is no limit
	burst    time.Duration // how far ahead of now the bucket may be drained

	mutex sync.Mutex
	next  time.Time // when the bucket would be full again
}

// NewLimiter makes one for so many requests a second; 0 or less is no limit.
func NewLimiter(perSecond float64) *Limiter {
	if perSecond <= 0 {
		return &Limiter{}
	}
	interval := time.Duration(float64(time.Second) / perSecond)
	return &Limiter{interval: interval, burst: max(time.Second, interval)}
}

// Wait returns when a request may be sent, or ctx's error.
func (l *Limiter) Wait(ctx context.Context) error {
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
func (l *Limiter) reserve(now time.Time) time.Duration {
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
