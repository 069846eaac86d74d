package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// DB is an open database. The embedded pool is for reading: SQLite refuses writes on it. On PostgreSQL, reads and
// writes use separate connections, so that neither starves the other. A DB is safe for concurrent use. The caller of
// Open closes it.
type DB struct {
	*bun.DB
	Engine Engine
	// InstanceID identifies this open database by host, process and a random part. It is unique.
	InstanceID string

	newest       int64 // version of the schema that this program knows
	writers      *bun.DB
	connector    *connector              // PostgreSQL's
	writeLock    writeLock               // SQLite: guards the single writing connection
	prepared     map[statement]*sql.Stmt // SQLite: on the writing connection, guarded by the write lock
	owner        *owner                  // SQLite: this process's lock on the file
	checkpointer *checkpointer           // SQLite, unless read-only; nil for none
	full         atomic.Int64            // when a write found no room last, in nanoseconds since 1970; 0 for never
	log          *slog.Logger
	id           string // see ID
	standby      bool   // PostgreSQL's server was in recovery
	// sharesSessions says that a pooler gives each transaction another session of PostgreSQL.
	sharesSessions bool
	close          func() error
}

const accepted = "use postgres://USER:PASSWORD@HOST:PORT/DATABASE or sqlite:PATH"

// Open opens the database at url, which is postgres://… (or postgresql://…) or sqlite:PATH, and checks that
// it can serve. It changes no schema: see [Migrate].
//
// The error matches [ErrUnavailable] if the server cannot be reached, and [ErrOwned] if another process has
// the SQLite file, and [ErrMisnamed] if there is no database of that name. No error repeats the url, which
// may hold a password.
func Open(ctx context.Context, url string, log *slog.Logger) (*DB, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	var db *DB
	var err error
	switch scheme {
	case "postgres", "postgresql":
		db, err = openPostgres(ctx, url, log)
	case "sqlite":
		if err = isNoDirectory(rest); err == nil {
			db, err = openSQLite(ctx, rest)
		}
	case "":
		err = misnamed{errors.New("no database is named: " + accepted)}
	default:
		err = misnamed{errors.New("the database URL is of no known kind: " + accepted)}
	}
	if err != nil {
		return nil, err
	}
	newest, err := newestMigration(db.Engine)
	if err != nil {
		return nil, errors.Join(err, db.closeAll())
	}
	db.log, db.InstanceID, db.newest = log, newInstanceID(), int64(newest)
	db.checkpointer.start()
	db.close = sync.OnceValue(db.closeAll)
	return db, nil
}

// Announce publishes the address of this process's API to other processes that try to open the same SQLite file. It
// does nothing on PostgreSQL, which many processes may share.
func (db *DB) Announce(api string) error {
	if db.owner == nil {
		return nil
	}
	return db.owner.announce(api)
}

// Answers checks that the database answers. On SQLite it fails while the file is deleted, moved or replaced, although
// reads of the open file may still work.
func (db *DB) Answers(ctx context.Context) error {
	if err := db.owner.inPlace(); err != nil {
		return err
	}
	return Classify(ctx, db.PingContext(ctx))
}

// Writable checks that writes are accepted and find room. It fails for a minute after one found no room. On SQLite, a
// file beside the database must find room, too. The error matches [ErrFull] or [ErrReadOnly].
func (db *DB) Writable(ctx context.Context) error {
	const memory, room = time.Minute, 256 << 10
	if time.Since(time.Unix(0, db.full.Load())) < memory {
		return fmt.Errorf("%w: a write found no room: free some, and wait a minute", ErrFull)
	}
	if db.Engine == Postgres {
		return db.accepts(ctx)
	}
	if db.owner == nil {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(db.owner.path), ".room-*")
	if err != nil {
		return Classify(ctx, err)
	}
	_, err = file.Write(make([]byte, room))
	return Classify(ctx, errors.Join(err, file.Close(), os.Remove(file.Name())))
}

// accepts checks that PostgreSQL accepts writes. While every connection is in use, the writes there will tell.
func (db *DB) accepts(ctx context.Context) error {
	if pool := db.writers.Stats(); pool.InUse == pool.MaxOpenConnections {
		return nil
	}
	var readOnly bool
	err := db.writers.QueryRowContext(ctx, "SELECT current_setting('transaction_read_only')::boolean").Scan(&readOnly)
	if err == nil && readOnly {
		err = fmt.Errorf("%w: PostgreSQL accepts no writes: it is a standby, or default_transaction_read_only is on",
			ErrReadOnly)
	}
	return db.noted(Classify(ctx, err))
}

// noted returns the error of a write. It remembers that there was no room. It closes the idle connections for writing
// if the server was read-only, since a session may stay so when the server no longer is.
func (db *DB) noted(err error) error {
	switch {
	case errors.Is(err, ErrFull):
		db.full.Store(time.Now().UnixNano())
	case errors.Is(err, ErrReadOnly) && db.Engine == Postgres:
		most := db.writers.Stats().MaxOpenConnections
		db.writers.SetMaxIdleConns(0)
		db.writers.SetMaxIdleConns(most)
	}
	return err
}

// Close closes every connection. On SQLite it waits for the running transaction and releases the file. Further calls
// do nothing and return the first result.
func (db *DB) Close() error { return db.close() }

func (db *DB) closeAll() error {
	ended := db.checkpointer.end()
	done, _ := db.writeLock.take(context.Background())
	defer done()
	errs := []error{ended, db.DB.Close(), db.writers.Close()}
	if db.owner != nil {
		errs = append(errs, db.owner.release())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Engine is the kind of database that holds the log and its projections.
type Engine string

// The two engines. Every feature works on both.
const (
	Postgres Engine = "postgres"
	SQLite   Engine = "sqlite"
)

func (e Engine) String() string { return string(e) }

// newInstanceID makes a unique name for this process that people can read.
func newInstanceID() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}

// AddQueryHook adds a hook for every further statement, including those in transactions. Call it before the database
// is used.
func (db *DB) AddQueryHook(hook bun.QueryHook) {
	db.DB = db.WithQueryHook(hook)
	db.writers = db.writers.WithQueryHook(hook)
}
