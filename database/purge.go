package database

import (
	"context"
	"fmt"
	"time"
)

// Purge rewrites the database files, so that they contain no deleted rows. A database keeps the bytes of deleted rows
// until it reuses their space. notes say what it did or could not do.
//
// On SQLite, writers wait while the file is rewritten, at about the speed of the disk. PostgreSQL rewrites one table
// after the other, and blocks reads of that table. Purge retries a table that stays locked for seconds, then skips
// it. It also skips tables that the role does not own. It cannot purge the write-ahead log of PostgreSQL, or backups.
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
	// The old write-ahead log is emptied as soon as it has no reader.
	backoff := Backoff{Shortest: 10 * time.Millisecond, Longest: time.Second}
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

// RetainedCopies names what else holds deleted bytes, and for how long, as far as the database knows. It knows
// nothing of backups.
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
