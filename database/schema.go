package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/migrations"
)

// Schema returns the version of the database's schema, 0 before the first migration, and the version that this
// program needs. The error matches [ErrDirtySchema] if a migration was interrupted.
func Schema(ctx context.Context, db *DB) (have, want uint, err error) {
	return schema(ctx, db, db.Engine)
}

func schema(ctx context.Context, db bun.IDB, engine Engine) (have, want uint, err error) {
	want, err = newestMigration(engine)
	if err != nil {
		return 0, 0, err
	}
	exists := `SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'`
	if engine == Postgres {
		exists = `SELECT count(to_regclass('schema_migrations'))`
	}
	var tables int
	if err := db.QueryRowContext(ctx, exists).Scan(&tables); err != nil {
		return 0, 0, Classify(ctx, fmt.Errorf("look for schema version: %w", err))
	}
	if tables == 0 {
		return 0, want, nil
	}
	var dirty bool
	err = db.QueryRowContext(ctx, `SELECT version, dirty FROM schema_migrations`).Scan(&have, &dirty)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, want, nil
	case err != nil:
		return 0, 0, Classify(ctx, fmt.Errorf("read schema version: %w", err))
	case dirty:
		return have, want, dirtySchemaError(have)
	}
	return have, want, nil
}

// SchemaColumn is an expression for the version of the schema, for a statement that is sent anyway. See [DB.Knows].
const SchemaColumn = `(SELECT max(version) FROM schema_migrations)`

// Knows returns an error that matches [ErrOutdated] if the version of the schema is later than this program knows.
// The version is invalid while another process writes it.
func (db *DB) Knows(version sql.NullInt64) error {
	if version.Valid && version.Int64 > db.newest {
		return outdatedError{version.Int64, db.newest}
	}
	return nil
}

// UnlessOutdated is a condition of statements that a program must not carry out when it is outdated.
func (db *DB) UnlessOutdated() string {
	return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM schema_migrations WHERE version > %d)", db.newest)
}

// Outdated reads the version of the schema, and returns an error that matches [ErrOutdated] if a newer release has
// migrated the database since it was opened.
func (db *DB) Outdated(ctx context.Context) error {
	var version sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT "+SchemaColumn).Scan(&version); err != nil {
		return Classify(ctx, fmt.Errorf("read schema version: %w", err))
	}
	return db.Knows(version)
}

type outdatedError struct{ have, knows int64 }

func (e outdatedError) Unwrap() error { return ErrOutdated }

func (e outdatedError) Error() string {
	return fmt.Sprintf("a newer release has migrated this database: stop this server, and start that release "+
		"(the database has schema %d, this annals knows %d)", e.have, e.knows)
}

// newestMigration is the number of the last migration.
func newestMigration(engine Engine) (uint, error) {
	names, err := fs.Glob(migrations.Files, engine.String()+"/*.up.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("no migrations for %s: %w", engine, errors.Join(err, fs.ErrNotExist))
	}
	number, _, _ := strings.Cut(path.Base(names[len(names)-1]), "_")
	newest, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("number of migration %s: %w", names[len(names)-1], err)
	}
	return uint(newest), nil
}

type newerSchemaError struct{ have, want uint }

func (e newerSchemaError) Unwrap() error { return ErrNewerSchema }

func (e newerSchemaError) Error() string {
	return fmt.Sprintf("the database is at schema %d, this annals knows %d: use a newer annals", e.have, e.want)
}

type dirtySchemaError uint

func (e dirtySchemaError) Unwrap() error { return ErrDirtySchema }

func (e dirtySchemaError) Error() string {
	return fmt.Sprintf("a migration to schema %d was cut off half-way: restore the backup made before it, "+
		"or undo what it did and set schema_migrations to version %d, dirty false", uint(e), uint(e)-1)
}
