package database

import (
	"context"
	"fmt"
	"time"
)

// Sweep rewrites the files so that nothing of what was deleted is left in them, and tells what it did, or
// could not do. A database keeps the bytes of deleted rows until their place is needed.
//
// SQLite: whoever writes waits until the file is rewritten, at about the speed of the disk. PostgreSQL: one
// table after the other, each of which nobody can read meanwhile; a table that is not to be had within
// seconds is tried again, and then left, and so is what is not the role's own. The write-ahead log of PostgreSQL and backups are beyond its reach.
func (db *DB) Sweep(ctx context.Context) (notes []string, complete bool, err error) {
	if db.Engine == SQLite {
		return db.sweepFile(ctx)
	}
	return db.sweepTables(ctx)
}

func (db *DB) sweepFile(ctx context.Context) (notes []string, complete bool, err error) {
	done, err := db.writeLock.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	began := time.Now()
	if _, err := db.writers.ExecContext(ctx, "VACUUM"); err != nil {
		return nil, false, Classify(ctx, fmt.Errorf("rewrite the file: %w", err))
	}
	// The log of what was written before is emptied as soon as nobody reads in it.
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var busy, pages, moved int
		if err := db.writers.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
			return nil, false, Classify(ctx, fmt.Errorf("empty the write-ahead log: %w", err))
		}
		if busy == 0 {
			return []string{fmt.Sprintf("rewrote the file in %s, and emptied its write-ahead log", time.Since(began).Round(time.Millisecond))}, true, nil
		}
		if time.Since(began) > time.Minute {
			return []string{"rewrote the file; its write-ahead log is not empty, since somebody has been reading in it for a minute"}, false, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}
