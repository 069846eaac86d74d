package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
)

// openSQLite opens the file at path, or creates it, with one writing connection and a reading pool.
func openSQLite(ctx context.Context, path string) (*DB, error) {
	path, err := prepareFile(path)
	if err != nil {
		return nil, err
	}
	owner, err := claim(path, time.Now())
	if err != nil {
		return nil, err
	}
	writer, err := openFile(path, 1, "immediate", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		// The rows of a large tenant are spread over the indexes.
		"cache_size(-64000)",
		// The checkpointer copies the log. A writer would copy all that a long read has kept, sometimes hundreds of
		// megabytes, while other writers wait.
		"wal_autocheckpoint(0)", "journal_size_limit(67108864)")
	if err != nil {
		return nil, errors.Join(err, owner.release())
	}
	readers, err := openFile(
		path, max(4, 2*runtime.GOMAXPROCS(0)), "deferred", "query_only(1)", "cache_size(-8000)", "mmap_size(268435456)",
	)
	if err != nil {
		return nil, errors.Join(err, writer.Close(), owner.release())
	}
	copying, err := openPool(
		path, url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", waitForReaders.Milliseconds())}}, 1,
	)
	if err != nil {
		return nil, errors.Join(err, readers.Close(), writer.Close(), owner.release())
	}
	db := &DB{Engine: SQLite, DB: readers, writers: writer, writeLock: newWriteLock(), owner: owner}
	db.checkpointer = newCheckpointer(db, copying)
	// The writer first, since it switches the file to WAL permanently.
	for _, pool := range []*bun.DB{writer, readers} {
		if err := pool.PingContext(ctx); err != nil {
			return nil, errors.Join(
				fmt.Errorf("%s cannot be used, name another file with sqlite:PATH: %w", path, Classify(ctx, err)), db.closeAll(),
			)
		}
	}
	return db, nil
}

// prepareFile creates the file and its directory with access for the owner only. It returns the resolved path, at
// which the owner's lock file lies.
func prepareFile(path string) (string, error) {
	path = strings.TrimPrefix(path, "//") // as in sqlite:///var/lib/annals.db
	if path == "" || strings.HasPrefix(path, ":") || strings.ContainsAny(path, "?\x00") {
		return "", misnamed{errors.New("sqlite: takes the path of a file and no options, as in sqlite:./data/annals.db")}
	}
	if err := makeDirectory(filepath.Dir(path)); err != nil {
		return "", misnamed{err}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("the database cannot be opened, name another file with sqlite:PATH: %w", err)
	}
	if err := file.Close(); err != nil {
		return "", fmt.Errorf("close %s: %w", path, err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	return resolved, nil
}

// makeDirectory creates a directory, but not its parents: the path may be mistyped.
func makeDirectory(path string) error {
	err := os.Mkdir(path, 0o700)
	if info, unknown := os.Stat(path); unknown == nil && info.IsDir() {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory %s is not there: make it, or name another file with sqlite:PATH", filepath.Dir(path))
	case err != nil:
		return fmt.Errorf("the directory of the database cannot be made, name another file with sqlite:PATH: %w", err)
	}
	return nil
}

// openFile opens a pool whose connections run the pragmas. The driver reads options only in a "file:" name, and drops
// those of other names silently.
func openFile(path string, connections int, lock string, pragmas ...string) (*bun.DB, error) {
	options := url.Values{"_txlock": {lock}, "_pragma": append(pragmas, "busy_timeout(5000)")}
	pool, err := openPool(path, options, connections)
	if err != nil {
		return nil, err
	}
	return bun.NewDB(pool, sqlitedialect.New()), nil
}

func openPool(path string, options url.Values, connections int) (*sql.DB, error) {
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}
