package database

import "context"

// writeLock admits one caller at a time, in the order of their calls: the runtime serves senders blocked on a channel
// in that order. A nil writeLock admits all callers.
type writeLock chan struct{}

func newWriteLock() writeLock { return make(writeLock, 1) }

// take waits for the lock, which the caller holds until done is called. The error is ctx's.
func (t writeLock) take(ctx context.Context) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
