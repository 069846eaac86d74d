package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// ErrAbsent says that the database does not exist.
var ErrAbsent = errors.New("there is no database")

// OpenReadOnly is [Open] for reading: a SQLite file must exist, and its owner may continue writing. [DB.Transact] and
// [Migrate] fail.
func OpenReadOnly(ctx context.Context, address string, log *slog.Logger) (*DB, error) {
	scheme, path, _ := strings.Cut(address, ":")
	if scheme != "sqlite" {
		return Open(ctx, address, log)
	}
	path = strings.TrimPrefix(path, "//")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w at %s", ErrAbsent, path)
	}
	if err := isNoDirectory(path); err != nil {
		return nil, err
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("resolve the path of the database: %w", err)
	}
	options := url.Values{
		"mode": {"ro"}, "_txlock": {"deferred"},
		"_pragma": {"query_only(1)", "cache_size(-8000)", "mmap_size(268435456)", "busy_timeout(5000)"},
	}
	pool, err := openPool(path, options, 4)
	if err != nil {
		return nil, err
	}
	readers := bun.NewDB(pool, sqlitedialect.New())
	db := &DB{Engine: SQLite, DB: readers, writers: readers, writeLock: newWriteLock(), log: log}
	db.close = sync.OnceValue(db.closeAll)
	if err := readers.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be read: %w", path, Classify(ctx, err)), db.Close())
	}
	return db, nil
}
