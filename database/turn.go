package database

import (
	"context"
	"sync/atomic"
)

// turn lets one caller at a time have something, in the order in which they asked: the runtime
// serves senders blocked on a channel first come, first served. A nil turn lets everybody in.
type turn struct {
	taken  chan struct{}
	waited atomic.Int64 // how many had to wait
}

func newTurn() *turn { return &turn{taken: make(chan struct{}, 1)} }

// take waits for the caller's turn, which lasts until done is called. The error is ctx's.
func (t *turn) take(ctx context.Context) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	done = func() { <-t.taken }
	select {
	case t.taken <- struct{}{}:
		return done, nil
	default:
		t.waited.Add(1)
	}
	select {
	case t.taken <- struct{}{}:
		return done, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Waits is how many transactions have had to wait until another one ended, so far. Where many can write at once it
// is always 0.
func (db *DB) Waits() int64 {
	if db.turn == nil {
		return 0
	}
	return db.turn.waited.Load()
}
