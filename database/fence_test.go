package database_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// One address leads to a primary, its promoted standby, the former primary, and another cluster, in turn.
func TestAProcessKeepsToOneDatabase(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	pair, other := databasetest.NewPair(t), databasetest.Postgres(t)
	proxy := databasetest.NewProxy(t, asUserOf(t, other, pair.First))
	db := databasetest.Open(t, proxy.URL)
	makeItems(t, db)
	pair.KillPrimary()
	pair.Promote()
	pair.Return()

	proxy.Turn(t, pair.Second)
	works(t, db)
	proxy.Turn(t, pair.First)
	refuses(t, db, "is a former primary, with timeline 1, and this process has used timeline 2: stop it")
	proxy.Turn(t, other)
	refuses(t, db, "belongs to cluster")
	if _, err := database.Open(t.Context(), proxy.URL, databasetest.Log(t)); !errors.Is(err, database.ErrUnavailable) {
		t.Errorf("it was opened again, as after a change of its role: got %v, want %v", err, database.ErrUnavailable)
	}
	proxy.Turn(t, pair.Second)
	works(t, db)
}

// asUserOf is the URL of a server that trusts everyone, for the user of another.
func asUserOf(t *testing.T, other, trusting string) string {
	t.Helper()
	from, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(trusting)
	if err != nil {
		t.Fatal(err)
	}
	if name := from.User.Username(); name != to.User.Username() {
		mustTransact(t, databasetest.Open(t, trusting), `CREATE ROLE "`+name+`" SUPERUSER LOGIN`)
	}
	to.User = from.User
	return to.String()
}

func works(t *testing.T, db *database.DB) {
	t.Helper()
	before := count(t, db)
	mustTransact(t, db, `INSERT INTO items (id) SELECT 1 + coalesce(max(id), 0) FROM items`)
	if got := count(t, db); got != before+1 {
		t.Errorf("got %d rows, want %d", got, before+1)
	}
}

func refuses(t *testing.T, db *database.DB, why string) {
	t.Helper()
	written := transact(t, db, `INSERT INTO items (id) VALUES (1000)`)
	for _, err := range []error{written, db.Answers(t.Context()), db.Writable(t.Context())} {
		if !errors.Is(err, database.ErrUnavailable) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want %v: … %s", err, database.ErrUnavailable, why)
		}
	}
}

// Without the right to ask which server it is, a process is told so once, and served.
func TestARoleThatMayNotAskForTheServerIsServed(t *testing.T) {
	t.Parallel()
	owner := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	mustTransact(t, owner, `REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`)
	var said bytes.Buffer
	db, err := database.Open(t.Context(), databasetest.LetServe(t, owner), slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var idle string
	if err := db.QueryRowContext(t.Context(), `SHOW tcp_keepalives_idle`).Scan(&idle); err != nil || idle != "15" {
		t.Errorf("got %q (%v), want a session that is set up", idle, err)
	}
	if !strings.Contains(said.String(), "GRANT EXECUTE ON FUNCTION pg_control_system") {
		t.Errorf("got %q, want a warning", said.String())
	}
}
