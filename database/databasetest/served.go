package databasetest

import (
	"context"
	"database/sql"
	"net/url"
	"testing"

	"github.com/lib/pq"

	"github.com/annals-kb/annals/database"
)

// writer is a role of the test server that owns nothing of a log. It is never dropped, since other tests use it.
const writer = "annals_test_writer"

func served(t testing.TB, db *database.DB) *database.DB {
	t.Helper()
	if db.Engine != database.Postgres {
		db.SetMaxOpenConns(1)
		return db
	}
	return Open(t, LetServe(t, db)+"&pool_max_conns=2")
}

// LetServe grants a role that owns nothing of the log what serving needs. It returns the URL for that role.
func LetServe(t testing.TB, owner *database.DB) string {
	t.Helper()
	var name string
	if err := owner.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(databaseURL(t, name))
	if err != nil {
		t.Fatal("the URL of the database does not parse")
	}
	password, _ := address.User.Password()
	onServer(t, func(ctx context.Context, server *sql.Conn) error {
		_, err := server.ExecContext(ctx, `
			DO $$ BEGIN
				CREATE ROLE `+writer+` LOGIN PASSWORD `+pq.QuoteLiteral(password)+`;
			EXCEPTION WHEN duplicate_object OR unique_violation THEN -- another test was faster
			END $$`)
		return err
	})
	if err := database.GrantTo(t.Context(), owner, writer); err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(writer, password)
	return address.String()
}
