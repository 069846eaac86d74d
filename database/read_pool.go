package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// scanMapSize is how many bytes of the file a connection maps that reads all over it. What it maps is the operating
// system's memory, which takes back what it needs.
const scanMapSize = 1 << 30

// OpenReadPool opens connections for reading that do not joinWork to the pool. Work that holds one connection
// while it asks for another uses them: from the pool, such work could take the last ones and wait for itself.
// The caller closes them.
func (db *DB) OpenReadPool(ctx context.Context, connections int) (*bun.DB, error) {
	if db.Engine == Postgres {
		return newPool(db.connector, connections), nil
	}
	file, err := file(ctx, db)
	if err != nil {
		return nil, err
	}
	return openFile(
		file, connections, "deferred", "query_only(1)", "cache_size(-8000)", fmt.Sprintf("mmap_size(%d)", scanMapSize),
	)
}

// WithScanPool gives do what it can read most of the database with, so many queries at once. On SQLite these are
// connections of their own, until do returns: others map less of the file, and read the rest page by page.
func (db *DB) WithScanPool(ctx context.Context, queries int, do func(reads Querier) error) (err error) {
	if db.Engine != SQLite {
		return do(db)
	}
	pool, err := db.OpenReadPool(ctx, queries)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return do(pool)
}
