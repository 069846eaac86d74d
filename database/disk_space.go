package database

import (
	"context"
	"fmt"
)

// FreeDiskSpace is how many bytes the disk of a SQLite file has left for unprivileged users; nil if that cannot
// be known, as on PostgreSQL, whose disk is another machine's.
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

// file is where SQLite's database lies.
func file(ctx context.Context, db *DB) (path string, err error) {
	if err := db.NewRaw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(ctx, &path); err != nil {
		return "", Classify(ctx, fmt.Errorf("find the database's file: %w", err))
	}
	return path, nil
}
