package database

import (
	"context"
	"fmt"
	"time"

	"github.com/annals-kb/annals/background"
)

// Purge rewrites the files so that nothing of what was deleted is left in them, and tells what it did, or
// could not do. A database keeps the bytes of deleted rows until their place is needed.
//
// SQLite: writers wait until the file is rewritten, at about the speed of the disk. PostgreSQL: one table
// after the other, each of which cannot be read meanwhile; a table that is not to be had within seconds is
// tried again, and then left, and so is what is not the role's own. The write-ahead log of PostgreSQL and
// backups are beyond its reach.
func Purge(ctx context.Context, db *DB) (notes []string, complete bool, err error) {
	if db.Engine == SQLite {
		return purgeFile(ctx, db)
	}
	return purgeTables(ctx, db)
}

func purgeFile(ctx context.Context, db *DB) (notes []string, complete bool, err error) {
	done, err := db.writeLock.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	began := time.Now()
	if _, err := db.writers.ExecContext(ctx, "VACUUM"); err != nil {
		return nil, false, Classify(ctx, fmt.Errorf("rewrite the file: %w", err))
	}
	// The log of what was written before is emptied as soon as it has no reader.
	backoff := background.Backoff{Shortest: 10 * time.Millisecond, Longest: time.Second}
	err = backoff.Retry(ctx, func() (done bool, err error) {
		var busy, pages, moved int
		if err := db.writers.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
			return true, Classify(ctx, fmt.Errorf("empty the write-ahead log: %w", err))
		}
		complete = busy == 0
		return complete || time.Since(began) > time.Minute, nil
	})
	switch {
	case err != nil:
		return nil, false, err
	case !complete:
		return []string{
			"rewrote the file; its write-ahead log is not empty, because a reader has kept it open for a minute",
		}, false, nil
	}
	return []string{
		fmt.Sprintf("rewrote the file in %s, and emptied its write-ahead log", time.Since(began).Round(time.Millisecond)),
	}, true, nil
}

// RetainedCopies names what holds deleted bytes after the files were rewritten, and for how long, as far as
// the database knows. Of backups it knows nothing.
func RetainedCopies(ctx context.Context, db *DB) ([]string, error) {
	if db.Engine == SQLite {
		return []string{"nothing besides the file: its write-ahead log is emptied with it"}, nil
	}
	var largest, kept, timeout, archived string
	var slots int
	err := db.QueryRowContext(ctx, `
		SELECT
			current_setting('max_wal_size'), current_setting('wal_keep_size'), current_setting('checkpoint_timeout'),
			current_setting('archive_mode'), (SELECT count(*) FROM pg_replication_slots)`).
		Scan(&largest, &kept, &timeout, &archived, &slots)
	if err != nil {
		return nil, Classify(ctx, fmt.Errorf("look at what is kept: %w", err))
	}
	notes := []string{
		fmt.Sprintf(
			"the write-ahead log, about max_wal_size = %s: its oldest parts are written over after each checkpoint, at least "+
				"every %s while there are writes",
			largest, timeout,
		),
	}
	if kept != "0" {
		notes = append(notes, "of it, always wal_keep_size = "+kept)
	}
	if archived != "off" {
		notes = append(notes, "its archive (archive_mode = "+archived+"), as long as you keep that")
	}
	if slots > 0 {
		notes = append(notes, fmt.Sprintf("what %d replication slots have not read yet, and their replicas", slots))
	}
	return notes, nil
}
