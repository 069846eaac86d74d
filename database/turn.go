package database

import "context"

// turn lets one caller at a time have something, in the order in which they asked: the runtime
// serves senders blocked on a channel first come, first served. A nil turn lets everybody in.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the caller's turn, which lasts until done is called. The error is ctx's.
func (t turn) take(ctx context.Context) (done func(), err error) {
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
