package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/migrations"
)

// migrationLock is the key of the advisory lock for migrations of one database.
const migrationLock = 0x616e6e616c73 // "annals"

// Migrate updates the schema to the version of this program; it does nothing if that is the current one. Several
// processes may call it concurrently. All missing migrations are one transaction: a failed one changes nothing and can
// be retried.
//
// The error matches [ErrNewerSchema] if the database is ahead of the program, and [ErrDirtySchema] if an earlier
// release left a migration half-way.
func Migrate(ctx context.Context, db *DB) error {
	var have, want uint
	migrateOnce := func(ctx context.Context, tx bun.Tx) (err error) {
		if err := prepareMigration(ctx, tx, db.Engine); err != nil {
			return err
		}
		have, want, err = schema(ctx, tx, db.Engine)
		switch {
		case err != nil:
			return err
		case have > want:
			return newerSchemaError{have, want}
		case have == want:
			return nil
		}
		if err := apply(ctx, tx, db.Engine, have); err != nil {
			return fmt.Errorf("migrate from schema %d to %d: %w", have, want, err)
		}
		return nil
	}
	// It locks tables that other servers use, so it may meet them in a deadlock.
	backoff := Backoff{Shortest: 100 * time.Millisecond, Longest: time.Second}
	err := backoff.Retry(ctx, func() (done bool, err error) {
		err = db.Transact(ctx, migrateOnce)
		return !errors.Is(err, ErrCollision), err
	})
	if err != nil || have == want {
		return err
	}
	level := slog.LevelInfo
	if have == 0 { // a new database is not worth a log line
		level = slog.LevelDebug
	}
	db.log.Log(ctx, level, "database migrated", "from", have, "to", want)
	return nil
}

// prepareMigration waits until no other process migrates the database, and installs pgvector.
func prepareMigration(ctx context.Context, tx bun.Tx, engine Engine) error {
	if engine == SQLite {
		return nil // the transaction is the lock
	}
	_, err := tx.ExecContext(ctx, `
		SET LOCAL statement_timeout = 0;
		SET LOCAL idle_in_transaction_session_timeout = 0;
		SELECT pg_advisory_xact_lock(?)`, migrationLock)
	if err != nil {
		return fmt.Errorf("wait for others to migrate: %w", err)
	}
	_, err = tx.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS vector`)
	if errors.Is(Classify(ctx, err), ErrReadOnly) {
		return fmt.Errorf(
			"this is a standby, or default_transaction_read_only is on: name a server that takes writes: %w", err,
		)
	} else if err != nil {
		return fmt.Errorf(
			"install pgvector (if this role may not, let a superuser run CREATE EXTENSION vector in this database): %w", err,
		)
	}
	return nil
}

// apply runs the missing migrations.
func apply(ctx context.Context, tx bun.Tx, engine Engine, have uint) error {
	_, err := tx.ExecContext(
		ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)`,
	)
	if err != nil {
		return fmt.Errorf("prepare schema version: %w", err)
	}
	files, err := iofs.New(migrations.Files, engine.String())
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	target := migrationTarget{ctx: ctx, tx: tx, engine: engine, have: have}
	m, err := migrate.NewWithInstance("iofs", files, engine.String(), target)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return m.Up()
}

// migrationTarget is the library's driver on one transaction, which the library's own drivers do not offer. The
// library neither opens, closes nor drops it.
type migrationTarget struct {
	database.Driver

	ctx    context.Context //nolint:containedctx // the methods of the library have none
	tx     bun.Tx
	engine Engine
	have   uint
}

// Lock implements [database.Driver]: [prepareMigration] has locked the database.
func (migrationTarget) Lock() error { return nil }

// Unlock implements [database.Driver]: the end of the transaction does it.
func (migrationTarget) Unlock() error { return nil }

// Version implements [database.Driver].
func (t migrationTarget) Version() (version int, dirty bool, err error) {
	if t.have == 0 {
		return database.NilVersion, false, nil
	}
	return int(t.have), false, nil
}

// SetVersion implements [database.Driver]. On PostgreSQL it waits for the transactions that have read the version, and
// later ones wait for it.
func (t migrationTarget) SetVersion(version int, dirty bool) error {
	empty := "TRUNCATE schema_migrations"
	if t.engine == SQLite {
		empty = "DELETE FROM schema_migrations"
	}
	_, err := t.tx.ExecContext(
		t.ctx, empty+"; INSERT INTO schema_migrations (version, dirty) VALUES (?, ?)", version, dirty,
	)
	return err
}

// Run implements [database.Driver].
func (t migrationTarget) Run(migration io.Reader) error {
	statements, err := io.ReadAll(migration)
	if err != nil {
		return err
	}
	_, err = t.tx.Tx.ExecContext(t.ctx, string(statements))
	return err
}
