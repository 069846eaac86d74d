package events

import (
	"context"
	"errors"
	"sync"
	"time"
)

// RunExclusively lets this process do something that one of those that share the database is to do at a time, and does nothing while another
// does it. What is done ends early should this process be held up for so long that another has taken over.
func (l *Log) RunExclusively(ctx context.Context, name string, do func(ctx context.Context) error) error {
	held, taken, err := l.takeLease(ctx, name)
	if err != nil || !taken {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for {
			select {
			case <-time.After(l.options.Lease / 3):
			case <-working.Done():
				return
			}
			if err := held.renew(working); errors.Is(err, errLeaseLost) {
				cancel(err)
			}
		}
	})
	err = do(working)
	cancel(nil)
	renewing.Wait()
	if left := held.release(context.WithoutCancel(ctx)); !errors.Is(left, errLeaseLost) {
		err = errors.Join(err, left)
	}
	return err
}
