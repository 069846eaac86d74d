package embedding

import (
	"context"

	"golang.org/x/time/rate"
)

// Limiter spreads requests evenly; at most a second's worth may come at once. It is safe for concurrent use.
type Limiter struct{ bucket *rate.Limiter }

// NewLimiter makes a limiter of this many requests a second; 0 or less is no limit.
func NewLimiter(perSecond float64) *Limiter {
	if perSecond <= 0 {
		return &Limiter{bucket: rate.NewLimiter(rate.Inf, 0)}
	}
	return &Limiter{bucket: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
}

// Wait returns when a request may be sent, or ctx's error. Unlike [rate.Limiter.Wait] it waits until ctx ends where its
// deadline is too near, so that the error is ctx's own.
func (l *Limiter) Wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	pause := l.bucket.Reserve().Delay()
	if pause == 0 {
		return nil
	}
	return sleep(ctx, pause)
}
