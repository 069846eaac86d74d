package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// many writes an import of so many pieces of knowledge.
func many(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: many N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"id":"many-%d","type":"tool","task":"counting","content":"the number %d comes after %d","scopes":["project:numbers"]}`+"\n",
			i, i+1, i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(lines.String()), 0o600))
}

// occupied listens on a free port, and never answers.
func occupied(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: occupied")
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = listener.Close() })
	ts.Setenv("ANNALS_LISTEN", listener.Addr().String())
}

// freePort finds a port that nobody listens on, for a server that a script starts by itself.
func freePort(ts *testscript.TestScript, _ bool, _ []string) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(listener.Close())
	ts.Setenv("ANNALS_LISTEN", listener.Addr().String())
	ts.Setenv("ANNALS_SERVER", "http://"+listener.Addr().String())
}

// schema makes the database say that another program migrated it.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema N")
	}
	ctx := context.Background()
	db, err := database.Open(ctx, ts.Getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	ts.Check(err)
	ts.Check(db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE schema_migrations SET version = ?", args[0])
		return err
	}))
	ts.Check(db.Close())
}
