package databasetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/lib/pq"

	"github.com/annals-kb/annals/migrations"
)

// Postgres returns the URL of a new, empty database on the server for tests, dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	return createDatabase(t, "template1")
}

func createDatabase(t testing.TB, template string) string {
	t.Helper()
	name := "annals_test_" + strings.ToLower(rand.Text())
	onServer(t, func(ctx context.Context, server *sql.Conn) error {
		_, err := server.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template)
		return err
	})
	t.Cleanup(func() {
		onServer(t, func(ctx context.Context, server *sql.Conn) error {
			_, err := server.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
			return err
		})
	})
	return databaseURL(t, name)
}

// template makes a migrated database, once per server and schema. Copying it is faster than migrating for every test.
// Test programs may call it concurrently. If one dies meanwhile, the template stays unmarked and is made again.
func template(t testing.TB) string {
	t.Helper()
	name := "annals_template_" + schemaHash(t)
	onServer(t, func(ctx context.Context, server *sql.Conn) error {
		// The lock ends with the session.
		if _, err := server.ExecContext(ctx, `SELECT pg_advisory_lock(hashtext($1))`, name); err != nil {
			return fmt.Errorf("wait for the template: %w", err)
		}
		var ready bool
		if err := server.QueryRowContext(ctx,
			`SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)`, name).Scan(&ready); err != nil || ready {
			return err
		}
		for _, statement := range []string{
			"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
			"CREATE DATABASE " + name + " TEMPLATE template1",
		} {
			if _, err := server.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("make the template: %w", err)
			}
		}
		if err := migrate(ctx, databaseURL(t, name), Log(t)); err != nil {
			return err
		}
		// PostgreSQL copies a database only while it has no connections.
		_, err := server.ExecContext(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE true ALLOW_CONNECTIONS false")
		return err
	})
	return name
}

// schemaHash changes whenever a migration is added or edited.
func schemaHash(t testing.TB) string {
	t.Helper()
	hash := sha256.New()
	names, err := fs.Glob(migrations.Files, "postgres/*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := migrations.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(fmt.Appendf(nil, "%s %d %s", name, len(text), text))
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:6])
}

// onServer runs do in a new session of the maintenance database. It also works during cleanup, when the test's
// context has ended.
func onServer(t testing.TB, do func(ctx context.Context, server *sql.Conn) error) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	connector, err := pq.NewConnector(serverURL(t))
	if err != nil {
		t.Fatalf("ANNALS_TEST_POSTGRES does not parse: %v", err)
	}
	pool := sql.OpenDB(connector)
	server, err := pool.Conn(ctx)
	if err != nil {
		t.Fatalf(
			"no server answers at ANNALS_TEST_POSTGRES (%v): run make test, or: eval \"$(scripts/postgres.sh start)\"", err,
		)
	}
	if err := errors.Join(do(ctx, server), server.Close(), pool.Close()); err != nil {
		t.Fatal(err)
	}
}

func serverURL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("ANNALS_TEST_POSTGRES")
	if server == "" {
		t.Fatal("ANNALS_TEST_POSTGRES is not set: run make test, or: eval \"$(scripts/postgres.sh start)\"")
	}
	return server
}

func databaseURL(t testing.TB, name string) string {
	t.Helper()
	server, err := url.Parse(serverURL(t))
	if err != nil {
		t.Fatal("ANNALS_TEST_POSTGRES does not parse as postgres://…")
	}
	server.Path = "/" + name
	return server.String()
}
