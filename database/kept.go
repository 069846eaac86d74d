package database

import (
	"context"
	"fmt"
)

// Kept tells what holds deleted bytes after the files were rewritten, and for how long, as far as the database
// knows. Of backups it knows nothing.
func (db *DB) Kept(ctx context.Context) ([]string, error) {
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
	notes := []string{fmt.Sprintf("the write-ahead log, about max_wal_size = %s: its oldest parts are written over after each checkpoint, at least every %s while there are writes", largest, timeout)}
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
