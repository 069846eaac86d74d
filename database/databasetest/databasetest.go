package databasetest

import (
	"context"
	"errors"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
)

// Each runs test as two parallel subtests, "sqlite" and "postgres". Each has a fresh, migrated database that is
// removed at the end of the subtest.
func Each(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	on(t, database.SQLite, test)
	on(t, database.Postgres, test)
}

func on(t *testing.T, engine database.Engine, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	t.Run(engine.String(), func(t *testing.T) {
		t.Parallel()
		test(t, Open(t, Migrated(t, engine)))
	})
}

// Either is [Each] for packages without SQL: with -short it runs one subtest, on the engine that [OneOf] chooses.
func Either(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	for _, engine := range Engines(t) {
		on(t, engine, test)
	}
}

// EachServed is [Either] with one reading and one writing connection: code that holds a connection and needs a second
// one blocks. On PostgreSQL, the role owns nothing of the log and sees one tenant at a time, as after annals migrate
// --role.
func EachServed(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	for _, engine := range Engines(t) {
		OnServed(t, engine, test)
	}
}

// OnServed is [EachServed] on an engine.
func OnServed(t *testing.T, engine database.Engine, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	on(t, engine, func(t *testing.T, db *database.DB) { test(t, served(t, db)) })
}

// Engines returns both engines, or with -short the one that [OneOf] chooses.
func Engines(t *testing.T) []database.Engine {
	one, other := OneOf(t)
	if testing.Short() {
		return []database.Engine{one}
	}
	return []database.Engine{one, other}
}

// OneOf returns an engine, chosen by the name of the test, and the other one. Tests of packages without SQL run on one
// of them: so half of the tests run on each.
func OneOf(t *testing.T) (one, other database.Engine) { return Chosen(t.Name()) }

// Chosen is [OneOf] for a name.
func Chosen(name string) (one, other database.Engine) {
	if crc32.ChecksumIEEE([]byte(name))%2 == 0 {
		return database.SQLite, database.Postgres
	}
	return database.Postgres, database.SQLite
}

// Slow skips a test with -short, since a quicker one keeps the same promise or few changes can break it.
func Slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: make test-all runs it")
	}
}

// SQLite returns the URL of a file that does not exist yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "annals.db")
}

// Migrated returns the URL of a new, migrated database.
func Migrated(t testing.TB, engine database.Engine) string {
	t.Helper()
	if engine == database.Postgres {
		return createDatabase(t, template(t))
	}
	content, err := migratedFile()
	if err != nil {
		t.Fatal(err)
	}
	url := SQLite(t)
	if err := os.WriteFile(strings.TrimPrefix(url, "sqlite:"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return url
}

// migratedFile is a migrated file of SQLite, made once per process. Copying it is faster than migrating for every test.
var migratedFile = sync.OnceValues(func() (content []byte, err error) {
	directory, err := os.MkdirTemp("", "annals-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	file := filepath.Join(directory, "annals.db")
	if err := migrate(context.Background(), "sqlite:"+file, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

func migrate(ctx context.Context, url string, logger *slog.Logger) error {
	db, err := database.Open(ctx, url, logger)
	if err != nil {
		return err
	}
	return errors.Join(database.Migrate(ctx, db), db.Close())
}

// Open opens a database until the test ends, and logs to the test.
func Open(t testing.TB, url string) *database.DB {
	t.Helper()
	db, err := database.Open(t.Context(), url, Log(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Log writes to the test's output.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}
