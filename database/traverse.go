package database

import (
	"context"
	"errors"
	"fmt"
)

// traversed is how many bytes of the file a connection maps that reads all over it. What it maps is the operating
// system's memory, which takes back what it needs.
const traversed = 1 << 30

// Traverse gives do what it can read most of the database with, so many queries at once. On SQLite these are
// connections of their own, until do returns: others map less of the file, and read the rest page by page.
func (db *DB) Traverse(ctx context.Context, queries int, do func(reads Querier) error) (err error) {
	if db.Engine != SQLite {
		return do(db)
	}
	file, err := db.file(ctx)
	if err != nil {
		return err
	}
	pool, err := openFile(file, queries, "deferred", "query_only(1)", "cache_size(-8000)", fmt.Sprintf("mmap_size(%d)", traversed))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return do(pool)
}
