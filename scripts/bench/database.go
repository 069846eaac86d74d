package bench

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lib/pq"

	"github.com/annals-kb/annals/database"
)

// Afresh does something with a database as [Fresh] opens it, and notes in engines of what kind it is.
func Afresh(
	ctx context.Context, engine database.Engine, engines map[database.Engine]map[string]string, do func(db *database.DB) error,
) (err error) {
	db, _, away, err := Fresh(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, away()) }()
	if engines[engine], err = Describe(ctx, db); err != nil {
		return err
	}
	return do(db)
}

// Fresh opens a new, migrated database: a file in a temporary directory, or a database of its own on the server at
// ANNALS_TEST_POSTGRES. Whoever is given it calls away, after which nothing is left of it; address is for those who would
// rather keep it.
func Fresh(ctx context.Context, engine database.Engine) (db *database.DB, address string, away func() error, err error) {
	address, remove, err := Place(ctx, engine)
	if err != nil {
		return nil, "", nil, err
	}
	db, err = database.Open(ctx, address, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, "", nil, errors.Join(err, remove())
	}
	away = func() error { return errors.Join(db.Close(), remove()) }
	if err := db.Migrate(ctx); err != nil {
		return nil, "", nil, errors.Join(err, away())
	}
	return db, address, away, nil
}

// Place is where a fresh database can be: the file is not made yet, and the database on the server is empty.
func Place(ctx context.Context, engine database.Engine) (address string, remove func() error, err error) {
	if engine == database.SQLite {
		dir, err := os.MkdirTemp("", "annals-bench-")
		return "sqlite:" + filepath.Join(dir, "annals.db"), func() error { return os.RemoveAll(dir) }, err
	}
	server, err := url.Parse(os.Getenv("ANNALS_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		return "", nil, errors.New(`ANNALS_TEST_POSTGRES names no server: run the bench through "scripts/postgres.sh run"`)
	}
	name := "annals_bench_" + strings.ToLower(rand.Text())
	if err := onServer(ctx, server.String(), "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	own := *server
	own.Path = "/" + name
	return own.String(), func() error {
		return onServer(context.WithoutCancel(ctx), server.String(), "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
}

func onServer(ctx context.Context, address, statement string) error {
	connector, err := pq.NewConnector(address)
	if err != nil {
		return errors.New("ANNALS_TEST_POSTGRES does not parse") // err would repeat the password
	}
	pool := sql.OpenDB(connector)
	_, err = pool.ExecContext(ctx, statement)
	return errors.Join(err, pool.Close())
}

// Describe names an engine's version and the settings that figures depend on.
func Describe(ctx context.Context, db *database.DB) (map[string]string, error) {
	about := map[string]string{}
	queries := map[string]string{"version": "SELECT sqlite_version()", "synchronous": "PRAGMA synchronous", "cache_size": "PRAGMA cache_size"}
	if db.Engine == database.Postgres {
		queries = map[string]string{
			"version":  "SHOW server_version",
			"pgvector": "SELECT coalesce(max(extversion), 'none') FROM pg_extension WHERE extname = 'vector'",
		}
		for _, setting := range []string{"shared_buffers", "fsync", "jit", "work_mem", "max_parallel_workers_per_gather"} {
			queries[setting] = "SHOW " + setting
		}
	}
	for name, query := range queries {
		var value string
		if err := db.QueryRowContext(ctx, query).Scan(&value); err != nil {
			return nil, fmt.Errorf("ask the database for its %s: %w", name, err)
		}
		about[name] = value
	}
	return about, nil
}
