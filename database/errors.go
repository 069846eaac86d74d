package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

// What can go wrong with a database, whichever engine it is. Match with [errors.Is].
var (
	// ErrUnavailable says that the server does not answer, or that the file is locked or cannot be used. Nothing was
	// written; try later.
	ErrUnavailable = errors.New("database unavailable")
	// ErrReadOnly says that the server or the file accepts no writes for now, as a standby. It matches
	// [ErrUnavailable].
	ErrReadOnly = fmt.Errorf("%w: read-only", ErrUnavailable)
	// ErrCollision says that another transaction was in the way. Nothing was written, and the same may succeed at once.
	// It matches [ErrUnavailable].
	ErrCollision = fmt.Errorf("%w: collision of transactions", ErrUnavailable)
	// ErrTableMissing says that PostgreSQL did not find a table of a query, for example because it was dropped
	// meanwhile. On SQLite this cannot happen within a transaction.
	ErrTableMissing = errors.New("table missing")
	// ErrOutcomeUnknown says that COMMIT was sent and not answered. The transaction may or may not be committed: look
	// for its rows first.
	ErrOutcomeUnknown = errors.New("outcome of COMMIT unknown")
	// ErrUnique says that a row with this key exists.
	ErrUnique = errors.New("not unique")
	// ErrFull says that the disk is full. Nothing was written.
	ErrFull = errors.New("database disk full")
	// ErrDamaged says that the stored data cannot be read any more.
	ErrDamaged = errors.New("database damaged")
	// ErrOwned says that another process has the SQLite file.
	ErrOwned = errors.New("database file in use")
	// ErrNewerSchema says that a newer version of the program migrated this database.
	ErrNewerSchema = errors.New("newer schema")
	// ErrOutdated says that a newer version of the program migrated the database while this one had it open. Nothing
	// was written. It matches [ErrUnavailable].
	ErrOutdated = fmt.Errorf("%w: newer schema", ErrUnavailable)
	// ErrDirtySchema says that a migration was interrupted at an unknown point.
	ErrDirtySchema = errors.New("dirty schema")
)

// Classify wraps an error of a driver in one of this package's errors. For a stopped query, it wraps
// [context.Canceled] or [context.DeadlineExceeded]; ctx is the query's context. It returns other errors, and
// classified ones, unchanged.
func Classify(ctx context.Context, err error) error {
	if err == nil || isClassified(err) {
		return err
	}
	if kind := kindOf(ctx, err); kind != nil {
		return fmt.Errorf("%w: %w", kind, err)
	}
	return err
}

func isClassified(err error) bool {
	for _, kind := range []error{
		context.Canceled, context.DeadlineExceeded,
		ErrUnavailable, ErrTableMissing, ErrOutcomeUnknown, ErrUnique, ErrFull, ErrDamaged, ErrMisnamed,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func kindOf(ctx context.Context, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return ErrFull
	}
	var kind error
	if refusal, ok := errors.AsType[*pq.Error](err); ok {
		kind = kindOfPostgres(refusal)
	} else if refusal, ok := errors.AsType[*sqlite.Error](err); ok {
		kind = kindOfSQLite(refusal)
	} else if isConnectionLost(err) {
		kind = ErrUnavailable
	}
	// A stopped query can fail in several ways; its context tells that it was stopped.
	stopped := errors.Is(kind, ErrUnavailable) || errors.Is(kind, context.Canceled) ||
		errors.Is(kind, context.DeadlineExceeded)
	if stopped && ctx.Err() != nil {
		return ctx.Err()
	}
	return kind
}

// lost are the errors of a connection that ended. It may end within a message of the server.
var lost = []error{
	driver.ErrBadConn, sql.ErrConnDone, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE,
}

func isConnectionLost(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || slices.ContainsFunc(lost, func(kind error) bool { return errors.Is(err, kind) })
}

// kindOfPostgres maps the codes of PostgreSQL's appendix A.
func kindOfPostgres(refusal *pq.Error) error {
	switch refusal.Code {
	case pqerror.UniqueViolation:
		return ErrUnique
	case pqerror.DiskFull:
		return ErrFull
	case pqerror.ReadOnlySQLTransaction:
		return ErrReadOnly
	case pqerror.UndefinedTable:
		return ErrTableMissing
	// by the server's timeouts, or its operator
	case pqerror.QueryCanceled, pqerror.LockNotAvailable, pqerror.TransactionTimeout:
		return context.DeadlineExceeded
	case pqerror.AdminShutdown, pqerror.CrashShutdown, pqerror.CannotConnectNow, pqerror.IdleSessionTimeout,
		pqerror.IdleInTransactionSessionTimeout:
		return ErrUnavailable
	case pqerror.DataCorrupted, pqerror.IndexCorrupted:
		return ErrDamaged
	}
	switch refusal.Code.Class() {
	case pqerror.ClassTransactionRollback: // a deadlock, or a conflict with another transaction or with recovery
		return ErrCollision
	case pqerror.ClassConnectionException, pqerror.ClassInsufficientResources:
		return ErrUnavailable
	}
	return nil
}

func kindOfSQLite(refusal *sqlite.Error) error {
	switch refusal.Code() {
	case sqlitecode.SQLITE_CONSTRAINT_UNIQUE, sqlitecode.SQLITE_CONSTRAINT_PRIMARYKEY, sqlitecode.SQLITE_CONSTRAINT_ROWID:
		return ErrUnique
	}
	switch refusal.Code() & 0xff { // the primary result code
	case sqlitecode.SQLITE_FULL:
		return ErrFull
	case sqlitecode.SQLITE_READONLY:
		return ErrReadOnly
	case sqlitecode.SQLITE_BUSY, sqlitecode.SQLITE_LOCKED, sqlitecode.SQLITE_IOERR, sqlitecode.SQLITE_CANTOPEN:
		return ErrUnavailable
	case sqlitecode.SQLITE_CORRUPT:
		return ErrDamaged
	case sqlitecode.SQLITE_NOTADB:
		return ErrMisnamed
	case sqlitecode.SQLITE_INTERRUPT:
		return context.Canceled
	}
	return nil
}

// isRefusal tells whether a failed COMMIT certainly committed nothing: the server refused it, or SQLite failed before
// it began to write.
func isRefusal(err error) bool {
	if refusal, ok := errors.AsType[*pq.Error](err); ok {
		kind := kindOfPostgres(refusal)
		return !refusal.Fatal() && refusal.Code != pqerror.TRStatementCompletionUnknown &&
			(!errors.Is(kind, ErrUnavailable) || errors.Is(kind, ErrReadOnly) || errors.Is(kind, ErrCollision))
	}
	if refusal, ok := errors.AsType[*sqlite.Error](err); ok {
		// After a crash, a commit record that was written but not synced may take effect.
		return refusal.Code()&0xff != sqlitecode.SQLITE_IOERR
	}
	return errors.Is(err, pq.ErrInFailedTransaction) || errors.Is(err, sql.ErrTxDone)
}

// ErrMisnamed says that the named database does not exist or is not a database.
var ErrMisnamed = errors.New("no database of ours")

// misnamed is an error that matches [ErrMisnamed] and has its own text.
type misnamed struct{ error }

func (m misnamed) Is(target error) bool { return target == ErrMisnamed }

func (m misnamed) Unwrap() error { return m.error }

// isNoDirectory refuses a directory as the path of a SQLite file.
func isNoDirectory(path string) error {
	path = strings.TrimPrefix(path, "//")
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return misnamed{
			fmt.Errorf("%s is a directory: name a file in it, as in sqlite:%s", path, filepath.Join(path, "annals.db")),
		}
	}
	return nil
}

// Denied is PostgreSQL's message about a missing privilege, such as "permission denied for table events"; empty if
// err has another cause.
func Denied(err error) string {
	if refusal, ok := errors.AsType[*pq.Error](err); ok && refusal.Code == pqerror.InsufficientPrivilege {
		return refusal.Message
	}
	return ""
}

// IsInfrastructureError tells whether the database refused a statement independently of its values, such as for a
// missing table, a deadlock, or lack of memory.
func IsInfrastructureError(err error) bool {
	if refusal, ok := errors.AsType[*pq.Error](err); ok {
		switch refusal.Code.Class() {
		case "22", "23", "P0": // data exception, constraint violation, raised by a trigger
			return false
		}
		return true
	}
	if refusal, ok := errors.AsType[*sqlite.Error](err); ok {
		switch refusal.Code() & 0xff {
		case sqlitecode.SQLITE_CONSTRAINT, sqlitecode.SQLITE_MISMATCH, sqlitecode.SQLITE_TOOBIG:
			return false
		}
		return true
	}
	return false
}
