package database

import (
	"context"
	"fmt"
)

// FreeDiskSpace is the number of free bytes for unprivileged users on the disk of a SQLite file. It is nil if
// unknown, as on PostgreSQL, which may be on another machine.
func FreeDiskSpace(ctx context.Context, db *DB) (bytes *int64, err error) {
	if db.Engine != SQLite {
		return nil, nil //nolint:nilnil // see above
	}
	file, err := file(ctx, db)
	if err != nil {
		return nil, err
	}
	return freeAt(file)
}

// file is the path of SQLite's database.
func file(ctx context.Context, db *DB) (path string, err error) {
	if err := db.NewRaw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(ctx, &path); err != nil {
		return "", Classify(ctx, fmt.Errorf("find the database's file: %w", err))
	}
	return path, nil
}
