package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// many writes an import of so many pieces of knowledge, each with so many words of its own.
func many(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2 || len(args) > 3, "many N FILE [WORDS]")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	words := 0
	if len(args) == 3 {
		words, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	const first = 100_000 // none is a year
	var lines strings.Builder
	for i := range n {
		var more strings.Builder
		for word := range words {
			fmt.Fprintf(&more, " w%d", (i*words+word)%5000)
		}
		fmt.Fprintf(&lines, `{"id":"many-%d","type":"tool","task":"counting","content":"the number %d comes after %d%s","scopes":["project:numbers"]}`+"\n",
			i, first+i+1, first+i, more.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(lines.String()), 0o600))
}

// occupied listens on a free port, and never answers.
func occupied(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 0, "occupied")
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = listener.Close() })
	ts.Setenv("ANNALS_LISTEN", listener.Addr().String())
}

// locked lets ANNALS_LLM_URL name an endpoint of a model that refuses every key.
func locked(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 0, "locked")
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	ts.Defer(endpoint.Close)
	ts.Setenv("ANNALS_LLM_URL", endpoint.URL+"/v1")
}

// freePort finds a port that nobody listens on, for a server that a script starts by itself.
func freePort(ts *testscript.TestScript, _ bool, _ []string) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(listener.Close())
	ts.Setenv("ANNALS_LISTEN", listener.Addr().String())
	ts.Setenv("ANNALS_SERVER", "http://"+listener.Addr().String())
}

// behind changes the database behind everybody's back.
func behind(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "behind STATEMENT")
	ctx := context.Background()
	db, err := database.Open(ctx, ts.Getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	ts.Check(err)
	ts.Check(db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return databasetest.TamperIn(ctx, db.Engine, tx, args[0])
	}))
	ts.Check(db.Close())
}

// schema makes the database say that another program migrated it.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "schema N")
	alter(ts, "UPDATE schema_migrations SET version = ?", args[0])
}

// statement runs one as whoever owns the database.
func statement(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "statement STATEMENT")
	alter(ts, args[0])
}

// alter runs a statement on the script's database, which no server may be using.
func alter(ts *testscript.TestScript, statement string, values ...any) {
	ctx := context.Background()
	db, err := database.Open(ctx, ts.Getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	ts.Check(err)
	ts.Check(db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	}))
	ts.Check(db.Close())
}

// eachEngine runs a test with new databases of each engine.
func eachEngine(t *testing.T, test func(t *testing.T, engine database.Engine, newDatabase func(testing.TB) string)) {
	t.Helper()
	t.Parallel()
	for engine, newDatabase := range map[database.Engine]func(testing.TB) string{
		database.SQLite: databasetest.SQLite, database.Postgres: databasetest.Postgres,
	} {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			test(t, engine, newDatabase)
		})
	}
}
