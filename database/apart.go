package database

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// traversed is how many bytes of the file a connection maps that reads all over it. What it maps is the operating
// system's memory, which takes back what it needs.
const traversed = 1 << 30

// Apart opens connections for reading that do not belong to the pool. Work that holds one connection while it asks for
// another uses them: from the pool, such work could take the last ones and wait for itself. The caller closes them.
func (db *DB) Apart(ctx context.Context, connections int) (*bun.DB, error) {
	if db.Engine == Postgres {
		return newPool(db.connector, connections), nil
	}
	file, err := db.file(ctx)
	if err != nil {
		return nil, err
	}
	return openFile(file, connections, "deferred", "query_only(1)", "cache_size(-8000)", fmt.Sprintf("mmap_size(%d)", traversed))
}
