package database

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// longLog is the number of pages at which SQLite's write-ahead log is copied into the file. A page that many
	// transactions change is copied once for all: 32 MiB cost a third less than the usual 4 MiB.
	longLog = 8192
	// tooLong is the multiple of longLog at which writers wait for readers. SQLite restarts the log only when no
	// reader needs it, which may never happen under constant reads.
	tooLong = 4
	// waitForReaders limits that wait.
	waitForReaders = 200 * time.Millisecond
	// lookAtLog is the shortest time between two checks of the log's length. In that time, it grows by a few hundred
	// pages.
	lookAtLog = 20 * time.Millisecond
	// heldPause is the pause after a reader needed old pages of the log.
	heldPause = 5 * time.Second
)

// checkpointer copies committed pages from SQLite's write-ahead log into the file, beside the writers. Otherwise, a
// writer would do it and wait for the disk, while all others wait for that writer.
type checkpointer struct {
	db        *DB
	pool      *sql.DB
	committed chan struct{} // holds one token: there may be pages to copy
	long      int           // number of pages at which the log is copied; default: longLog

	stop    context.CancelFunc
	working sync.WaitGroup
}

func newCheckpointer(db *DB, pool *sql.DB) *checkpointer {
	return &checkpointer{
		db: db, pool: pool, committed: make(chan struct{}, 1), long: longLog, stop: func() {},
	}
}

// start starts the copying, which runs until end.
func (c *checkpointer) start() {
	if c == nil {
		return
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.working.Go(func() { c.work(ctx) })
}

// notify reports a commit.
func (c *checkpointer) notify() {
	if c == nil {
		return
	}
	select {
	case c.committed <- struct{}{}:
	default:
	}
}

// end stops the copying and closes its connection.
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
		held, err := c.copy(ctx)
		if err != nil && ctx.Err() == nil {
			c.db.log.WarnContext(
				ctx, "the write-ahead log was not copied into the file; it is tried again", "error", Classify(ctx, err),
			)
		}
		pause := lookAtLog
		if held {
			pause = heldPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// copy copies the log if it is long. It first copies beside the writers, then the remaining pages under the write
// lock. The next writer then restarts the log, unless it is held for a long reader.
func (c *checkpointer) copy(ctx context.Context) (held bool, err error) {
	logged, _, err := c.checkpoint(ctx, "NOOP")
	if err != nil || logged < c.long {
		return false, err
	}
	for range 2 {
		if _, _, err := c.checkpoint(ctx, "PASSIVE"); err != nil {
			return false, err
		}
	}
	done, err := c.db.writeLock.take(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	mode := "PASSIVE"
	if logged > tooLong*c.long {
		mode = "RESTART"
	}
	_, held, err = c.checkpoint(ctx, mode)
	return held, err
}

// checkpoint returns the number of pages in the log. held tells whether a reader prevented the copying of some pages,
// or the restart of the log.
func (c *checkpointer) checkpoint(ctx context.Context, mode string) (logged int, held bool, err error) {
	var busy, copied int
	err = c.pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &logged, &copied)
	return logged, busy != 0 || copied < logged, err
}
