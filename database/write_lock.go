package database

import (
	"context"
	"sync/atomic"
)

// writeLock admits one caller at a time, in the order of their calls: the runtime serves senders blocked on a channel
// in that order. A nil writeLock admits all callers.
type writeLock struct {
	taken       chan struct{}
	maintenance atomic.Bool  // the database's own maintenance holds the lock, or waits for it
	waited      atomic.Int64 // how many callers had to wait, except for maintenance
}

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// take waits for the lock, which the caller holds until done is called. The error is ctx's.
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

// takeForMaintenance takes the lock for the database's own maintenance, one at a time. Work that yields to writers
// does not yield to maintenance.
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

// Waits counts the transactions that have waited for another one. It is always 0 if many can write at once.
func (db *DB) Waits() int64 {
	if db.writeLock == nil {
		return 0
	}
	return db.writeLock.waited.Load()
}
