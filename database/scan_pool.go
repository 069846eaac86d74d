package database

import (
	"context"
	"errors"
)

// WithScanPool gives do what it can read most of the database with, so many queries at once. On SQLite these are
// connections of their own, until do returns: others map less of the file, and read the rest page by page.
func (db *DB) WithScanPool(ctx context.Context, queries int, do func(reads Querier) error) (err error) {
	if db.Engine != SQLite {
		return do(db)
	}
	pool, err := db.Apart(ctx, queries)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return do(pool)
}
