package database

import (
	"context"
	"sync/atomic"
)

// writeLock lets one caller at a time have something, in the order in which they asked: the runtime
// serves senders blocked on a channel first come, first served. A nil writeLock lets everybody in.
type writeLock struct {
	taken       chan struct{}
	maintenance atomic.Bool  // the database's own maintenance has the turn, or waits for it
	waited      atomic.Int64 // how many had to wait, though not because of maintenance
}

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// take waits for the caller's turn, which lasts until done is called. The error is ctx's.
func (t *writeLock) take(ctx context.Context) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	done = func() { <-t.taken }
	select {
	case t.taken <- struct{}{}:
		return done, nil
	default:
		if !t.maintenance.Load() {
			t.waited.Add(1)
		}
	}
	select {
	case t.taken <- struct{}{}:
		return done, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// takeForMaintenance takes the turn for what the database does by itself, one at a time. Work that
// yields to writers does not yield to it.
func (t *writeLock) takeForMaintenance(ctx context.Context) (done func(), err error) {
	t.maintenance.Store(true)
	giveBack, err := t.take(ctx)
	if err != nil {
		t.maintenance.Store(false)
		return nil, err
	}
	return func() {
		t.maintenance.Store(false)
		giveBack()
	}, nil
}

// Waits is how many transactions have had to wait until another one ended, so far. Where many can write at once it
// is always 0.
func (db *DB) Waits() int64 {
	if db.writeLock == nil {
		return 0
	}
	return db.writeLock.waited.Load()
}
