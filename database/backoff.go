package database

import (
	"cmp"
	"context"
	"time"
)

// Backoff is the pause between attempts. It begins with Shortest and doubles up to Longest.
type Backoff struct{ Shortest, Longest time.Duration }

// Retry calls try until it reports that it is done, and returns its last error. If ctx ends while Retry
// waits, the error is that of the last attempt, or that of ctx if the attempt had none.
func (b Backoff) Retry(ctx context.Context, try func() (done bool, err error)) error {
	for pause := b.Shortest; ; pause = min(2*pause, b.Longest) {
		done, err := try()
		if done {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return cmp.Or(err, context.Cause(ctx))
		}
	}
}
