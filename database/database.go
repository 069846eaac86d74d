package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// DB is an open database. The embedded pool is for reading: SQLite refuses writes on it, and on
// PostgreSQL it is kept apart from the connections that write, so that neither starves the other.
// A DB is safe for concurrent use. The caller of Open closes it.
type DB struct {
	*bun.DB
	Engine Engine
	// InstanceID says who has opened the database: host, process, and something random. No two are the same.
	InstanceID string

	writers      *bun.DB
	connector    *connector              // PostgreSQL's
	writeLock    *writeLock              // SQLite: whose turn it is on the one connection that writes
	prepared     map[statement]*sql.Stmt // SQLite: on the connection that writes; the write lock guards it
	owner        *owner                  // SQLite: this process's claim to the file
	checkpointer *checkpointer           // SQLite's, unless only to read; nil for none
	log          *slog.Logger
	close        func() error
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
	db.log, db.InstanceID = log, newInstanceID()
	db.checkpointer.start()
	db.close = sync.OnceValue(db.closeAll)
	return db, nil
}

// Announce writes where this process serves its API, for other processes that try to open the same SQLite file.
// It does nothing on PostgreSQL, which many processes may share.
func (db *DB) Announce(api string) error {
	if db.owner == nil {
		return nil
	}
	return db.owner.announce(api)
}

// Answers tells whether the database does. On SQLite it does not while its file is deleted, moved or
// replaced, though what was read before can still be read.
func (db *DB) Answers(ctx context.Context) error {
	if err := db.owner.inPlace(); err != nil {
		return err
	}
	return Classify(ctx, db.PingContext(ctx))
}

// Close closes every connection and gives up the SQLite file, there after the running
// transaction. Closing again does nothing and answers as the first time.
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

// newInstanceID names this process once more, for people and to tell it from others.
func newInstanceID() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}

// AddQueryHook lets a hook hear every statement that is sent from now on, in transactions too. It is for before
// anybody uses the database.
func (db *DB) AddQueryHook(hook bun.QueryHook) {
	db.DB = db.WithQueryHook(hook)
	db.writers = db.writers.WithQueryHook(hook)
}
