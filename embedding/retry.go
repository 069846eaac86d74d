package embedding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// embed sends one batch until it succeeds, fails for good, or is out of attempts or of time.
func (o *OpenAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	for attempt := 1; ; attempt++ {
		if err := o.limiter.Wait(ctx); err != nil {
			return nil, err
		}
		vectors, err := o.post(ctx, texts)
		var failed *failure
		if !errors.As(err, &failed) {
			return vectors, err
		}
		pause := max(o.backoff(attempt), failed.retryAfter)
		if attempt >= o.config.MaxAttempts || failed.retryAfter > o.config.MaxRetryAfter || endsWithin(ctx, pause) {
			return nil, fmt.Errorf("%w after %d attempts: %s", ErrUnavailable, attempt, failed.what)
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// backoff is a random pause of up to MinBackoff doubled with every attempt, at least half of that, at most MaxBackoff.
func (o *OpenAI) backoff(attempt int) time.Duration {
	ceiling := o.config.MaxBackoff
	if doublings := attempt - 1; doublings < 30 {
		ceiling = min(ceiling, o.config.MinBackoff<<doublings)
	}
	return ceiling/2 + rand.N(ceiling/2+1) //nolint:gosec // spreads clients out, protects nothing
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// endsWithin tells whether ctx ends before a pause would.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
