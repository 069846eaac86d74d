package database

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// longLog is how many pages SQLite's write-ahead log has when it is copied into the file. A page that many
	// transactions change is copied once for all of them: 32 MiB cost a third less than the 4 MiB that are usual.
	longLog = 8192
	// tooLong is how many times that it may have while there are always readers: SQLite restarts the log only
	// while no reader is left that began before all of it was copied.
	tooLong = 4
	// waitForReaders is for how long writers then wait until there is such a moment.
	waitForReaders = 200 * time.Millisecond
	// lookAtLog is how often its length is looked at, at most. In that time it grows by a few hundred pages.
	lookAtLog = 20 * time.Millisecond
)

// checkpointer copies what was committed from SQLite's write-ahead log into the file, beside those who write: else
// every so often one of them would do it, and wait for the disk to have it all, while everybody waits.
type checkpointer struct {
	db        *DB
	pool      *sql.DB
	committed chan struct{} // holds one: there may be something to copy
	long      int           // how many pages are many; longLog
	next      int           // pages of the log at which it is copied

	stop    context.CancelFunc
	working sync.WaitGroup
}

func newCheckpointer(db *DB, pool *sql.DB) *checkpointer {
	return &checkpointer{
		db: db, pool: pool, committed: make(chan struct{}, 1), long: longLog, next: longLog, stop: func() {},
	}
}

// start begins to copy, until end.
func (c *checkpointer) start() {
	if c == nil {
		return
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.working.Go(func() { c.work(ctx) })
}

// tell says that something was committed.
func (c *checkpointer) notify() {
	if c == nil {
		return
	}
	select {
	case c.committed <- struct{}{}:
	default:
	}
}

// end ends that, and closes its connection.
func (c *checkpointer) end() error {
	if c == nil {
		return nil
	}
	c.stop()
	c.working.Wait()
	return c.pool.Close()
}

func (c *checkpointer) work(ctx context.Context) {
	for {
		select {
		case <-c.committed:
		case <-ctx.Done():
			return
		}
		if err := c.copy(ctx); err != nil && ctx.Err() == nil {
			c.db.log.WarnContext(
				ctx, "the write-ahead log was not copied into the file; it is tried again", "error", Classify(ctx, err),
			)
		}
		select {
		case <-time.After(lookAtLog):
		case <-ctx.Done():
			return
		}
	}
}

// copy copies the log if it is long. What is written meanwhile is copied next, and in the end, under the
// write lock, the little that came during that: the next writer then restarts the log.
func (c *checkpointer) copy(ctx context.Context) error {
	logged, _, err := c.checkpoint(ctx, "NOOP")
	if logged < c.long {
		c.next = c.long
	}
	if err != nil || logged < c.next {
		return err
	}
	for range 2 {
		if _, _, err := c.checkpoint(ctx, "PASSIVE"); err != nil {
			return err
		}
	}
	done, err := c.db.writeLock.takeForMaintenance(ctx)
	if err != nil {
		return err
	}
	defer done()
	mode, patience := "PASSIVE", c.long
	if logged > tooLong*c.long {
		mode, patience = "RESTART", logged
	}
	logged, held, err := c.checkpoint(ctx, mode)
	if held { // a reader has been open for long, and still needs what is in the file, or in the log
		c.next = logged + patience
	}
	return err
}

// checkpoint gives how many pages the log has, and whether some of them are not in the file yet, or the log could not
// be restarted, because of a reader.
func (c *checkpointer) checkpoint(ctx context.Context, mode string) (logged int, held bool, err error) {
	var busy, copied int
	err = c.pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &logged, &copied)
	return logged, busy != 0 || copied < logged, err
}
