package main

import (
	"context"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// testKey is the key of the test that a script runs in.
type testKey struct{}

// humble does what docs/install.md says of a role that can only append.
func humble(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) > 0, "humble")
	if ts.Getenv("ENGINE") != database.Postgres.String() {
		return
	}
	t := ts.Value(testKey{}).(testing.TB)
	ctx := context.Background()
	owner, err := database.Open(ctx, ts.Getenv("DATABASE_URL"), databasetest.Log(t))
	ts.Check(err)
	ts.Check(database.Migrate(ctx, owner))
	ts.Setenv("DATABASE_URL", databasetest.LetServe(t, owner))
	ts.Check(owner.Close())
}
