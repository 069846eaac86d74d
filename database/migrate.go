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

// migrationLock is the key of the advisory lock that processes migrating one database take turns by.
const migrationLock = 0x616e6e616c73 // "annals"

// Migrate brings the schema to the version that this program knows, and does nothing if it is there
// already. Several processes may migrate one database at once. A migration that fails changes nothing
// and can be tried again.
//
// The error matches [ErrNewerSchema] if the database is ahead of the program, and [ErrDirtySchema] if
// an earlier migration was cut off.
func Migrate(ctx context.Context, db *DB) error {
	err := withMigrationDriver(ctx, db, func(target database.Driver) error {
		// Looked up under the lock, and before the library would: on SQLite it takes any error for version 0.
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
		if have == 0 { // a new database is no news
			level = slog.LevelDebug
		}
		db.log.Log(ctx, level, "database migrated", "from", have, "to", want)
		return nil
	})
	return Classify(ctx, err)
}

// apply runs the missing migrations. A file is one transaction on either engine, so that one which
// failed left nothing behind but the mark that it was begun; that mark is taken back.
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

// cause is the driver's error inside one of the library's, which does not unwrap and repeats the whole file.
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

// withMigrationDriver hands do the library's driver, while no other process migrates the
// database. The driver is not closed: its Close would close connections that are ours.
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

// unlockMigration outlives ctx: the lock belongs to the session, and the session to the pool. A
// session that cannot be unlocked is ended.
func unlockMigration(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}
