package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// scanMapSize is how many bytes of the file a scanning connection maps. The operating system can reclaim that memory.
const scanMapSize = 1 << 30

// OpenReadPool opens reading connections outside of the pool, for work that holds one connection while it needs
// another. With the pool's connections, such work could block itself. The caller closes them.
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

// WithScanPool calls do with connections for reading most of the database, with so many concurrent queries. On SQLite
// these are separate connections that map more of the file, and that are closed when do returns.
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
