package databasetest

import (
	"hash/crc32"
	"log/slog"
	"path/filepath"
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
		if engine == database.Postgres {
			test(t, Open(t, migratedPostgres(t)))
			return
		}
		db := Open(t, SQLite(t))
		if err := database.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}

// EachServed is [Each] with one reading and one writing connection: code that holds a connection and needs a second
// one blocks. On PostgreSQL, the role owns nothing of the log and sees one tenant at a time, as after annals migrate
// --role.
func EachServed(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	OnServed(t, database.SQLite, test)
	OnServed(t, database.Postgres, test)
}

// OnServed is [EachServed] on one engine.
func OnServed(t *testing.T, engine database.Engine, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	on(t, engine, func(t *testing.T, db *database.DB) { test(t, served(t, db)) })
}

// OneOf returns an engine, chosen by the name of the test, and the other one. Tests of packages without SQL run on one
// of them: so half of the tests run on each.
func OneOf(t *testing.T) (one, other database.Engine) {
	if crc32.ChecksumIEEE([]byte(t.Name()))%2 == 0 {
		return database.SQLite, database.Postgres
	}
	return database.Postgres, database.SQLite
}

// SQLite returns the URL of a file that does not exist yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "annals.db")
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
