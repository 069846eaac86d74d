package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// transacting marks the context of a running transaction.
type transacting struct{}

// Transact runs fn in a writing transaction, and commits it if fn returns nil. Every transaction is opened here. fn
// receives a context and the transaction; both end with it.
//
// On PostgreSQL the transaction is READ COMMITTED. On SQLite there is one at a time, in the order of the calls, and
// it holds the write lock from its beginning (BEGIN IMMEDIATE).
//
// The error is fn's, or the database's after [Classify]. If the error of a COMMIT matches [ErrOutcomeUnknown], the
// transaction may have been committed; otherwise it was not. Once COMMIT was sent, the end of ctx no longer stops it,
// so that its answer is not lost.
func (db *DB) Transact(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return db.transact(ctx, syncCommit, fn)
}

// TransactOne is [DB.Transact] for one statement, and returns how many rows it changed. PostgreSQL commits it as soon
// as it has run, so that a process that stops meanwhile keeps no lock.
func (db *DB) TransactOne(ctx context.Context, statement string, args ...any) (changed int64, err error) {
	execute := func(ctx context.Context, on bun.IDB) error {
		result, err := on.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	}
	if db.Engine == Postgres {
		err = db.noted(Classify(ctx, execute(ctx, db.writers)))
	} else {
		err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return execute(ctx, tx) })
	}
	return changed, err
}

func (db *DB) transact(
	ctx context.Context, pace commitMode, fn func(ctx context.Context, tx bun.Tx) error,
) (err error) {
	defer func() { err = db.noted(err) }()
	if ctx.Value(transacting{}) != nil {
		return errors.New("a transaction inside a transaction: pass the outer one on")
	}
	done, err := db.writeLock.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := db.owner.inPlace(); err != nil {
		return err
	}

	// The transaction outlives ctx until its outcome is known; waiting for a connection does not.
	t := &transaction{db: db}
	outliving, end := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), opening{}, t))
	defer end()
	arrived := context.AfterFunc(ctx, end)
	if pace == asyncCommit {
		restore, err := db.allowAsync(outliving)
		if err != nil {
			return Classify(ctx, err)
		}
		defer restore()
	}
	var options *sql.TxOptions // SQLite's connection has _txlock=immediate
	if db.Engine == Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	tx, err := db.writers.BeginTx(outliving, options)
	if err != nil {
		if !arrived() { // ctx ended the wait, whatever err says
			err = ctx.Err()
		}
		return Classify(ctx, fmt.Errorf("begin: %w", err))
	}
	ended := false
	defer func() {
		if !ended {
			_ = tx.Rollback() // a transaction that cannot be rolled back ends with its connection
		}
	}()
	if !arrived() {
		return ctx.Err()
	}

	if pace == asyncCommit && db.Engine == Postgres {
		if _, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return Classify(ctx, err)
		}
	}
	if err := db.joinWork(ctx, tx); err != nil {
		return Classify(ctx, err)
	}
	if err := fn(context.WithValue(ctx, transacting{}, t), tx); err != nil {
		return Classify(ctx, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ended = true
	defer db.checkpointer.notify()
	switch err := tx.Commit(); {
	case err == nil:
	case isRefusal(err):
		return Classify(outliving, fmt.Errorf("commit: %w", err))
	default:
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, Classify(outliving, err))
	}
	db.keepPrepared(outliving, t)
	return nil
}

// TransactAsync is [DB.Transact] for repeatable work: its COMMIT does not wait for the disk. After a machine failure
// it may be lost, with all later asynchronous transactions, unless a [DB.Transact] has followed.
func (db *DB) TransactAsync(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return db.transact(ctx, asyncCommit, fn)
}

// commitMode tells whether a COMMIT waits for the disk.
type commitMode bool

const (
	syncCommit  commitMode = false
	asyncCommit commitMode = true
)

// allowAsync makes the next transaction on SQLite's writing connection commit asynchronously. restore undoes that; if
// it fails, it closes the connection.
func (db *DB) allowAsync(ctx context.Context) (restore func(), err error) {
	if db.Engine != SQLite {
		return func() {}, nil
	}
	if _, err := db.writers.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	return func() {
		if _, err := db.writers.ExecContext(ctx, "PRAGMA synchronous = FULL"); err == nil {
			return
		}
		if writer, err := db.writers.Conn(ctx); err == nil {
			_ = writer.Raw(func(any) error { return driver.ErrBadConn }) // drops the connection
			_ = writer.Close()
		}
	}, nil
}
