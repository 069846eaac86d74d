package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/database/sqlite"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/annals-kb/annals/migrations"
)

// migrationLock is the key of the advisory lock for migrations of one database.
const migrationLock = 0x616e6e616c73 // "annals"

// Migrate updates the schema to the version of this program; it does nothing if that is the current one. Several
// processes may call it concurrently. A failed migration changes nothing and can be retried.
//
// The error matches [ErrNewerSchema] if the database is ahead of the program, and [ErrDirtySchema] if an earlier
// migration was interrupted.
func Migrate(ctx context.Context, db *DB) error {
	err := withMigrationDriver(ctx, db, func(target database.Driver) error {
		// Read under the lock, and before the library does: on SQLite it treats any error as version 0.
		have, want, err := Schema(ctx, db)
		switch {
		case err != nil:
			return err
		case have > want:
			return newerSchemaError{have, want}
		case have == want:
			return nil
		}
		if err := apply(ctx, db, target); err != nil {
			return fmt.Errorf("migrate from schema %d to %d: %w", have, want, err)
		}
		level := slog.LevelInfo
		if have == 0 { // a new database is not worth a log line
			level = slog.LevelDebug
		}
		db.log.Log(ctx, level, "database migrated", "from", have, "to", want)
		return nil
	})
	return Classify(ctx, err)
}

// apply runs the missing migrations. A file is one transaction on either engine, so a failed one leaves only the mark
// of its beginning. apply removes that mark.
func apply(ctx context.Context, db *DB, target database.Driver) error {
	files, err := iofs.New(migrations.Files, db.Engine.String())
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", files, db.Engine.String(), target)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true }) // after the file that runs
	defer stop()
	err = cause(m.Up())
	if err == nil {
		return ctx.Err()
	}
	if version, dirty, versionErr := m.Version(); versionErr == nil && dirty {
		before := int(version) - 1
		if before == 0 {
			before = database.NilVersion
		}
		err = errors.Join(err, m.Force(before))
	}
	return err
}

// cause is the driver's error inside the library's, which does not unwrap and repeats the whole file.
func cause(err error) error {
	var wrapped *database.Error
	if value, ok := errors.AsType[database.Error](err); ok {
		wrapped = &value
	} else if wrapped, ok = errors.AsType[*database.Error](err); !ok {
		return err
	}
	if wrapped.Err == "" {
		return wrapped.OrigErr
	}
	return fmt.Errorf("%s: %w", wrapped.Err, wrapped.OrigErr)
}

// withMigrationDriver calls do with the library's driver, while no other process migrates the database. The driver is
// not closed, since its Close would close the connections of the DB.
func withMigrationDriver(ctx context.Context, db *DB, do func(database.Driver) error) error {
	if db.Engine == SQLite {
		done, err := db.writeLock.take(ctx)
		if err != nil {
			return err
		}
		defer done()
		target, err := sqlite.WithInstance(db.writers.DB, &sqlite.Config{})
		if err != nil {
			return fmt.Errorf("prepare schema version: %w", err)
		}
		return do(target)
	}

	conn, err := db.writers.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return fmt.Errorf("wait for others to migrate: %w", err)
	}
	defer unlockMigration(ctx, conn)
	if _, err := conn.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS vector`); errors.Is(Classify(ctx, err), ErrReadOnly) {
		return fmt.Errorf(
			"this is a standby, or default_transaction_read_only is on: name a server that takes writes: %w", err,
		)
	} else if err != nil {
		return fmt.Errorf(
			"install pgvector (if this role may not, let a superuser run CREATE EXTENSION vector in this database): %w", err,
		)
	}
	target, err := postgres.WithConnection(ctx, conn, &postgres.Config{})
	if err != nil {
		return fmt.Errorf("prepare schema version: %w", err)
	}
	return do(target)
}

// unlockMigration releases the lock even after ctx has ended, since its session returns to the pool. It closes a
// session that it cannot unlock.
func unlockMigration(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}
