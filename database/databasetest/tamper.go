package databasetest

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// Tamper runs statements with the rights of the tables' owner, without the triggers and checks that protect
// append-only tables.
func Tamper(t testing.TB, db *database.DB, statements ...string) {
	t.Helper()
	err := db.Transact(
		t.Context(), func(ctx context.Context, tx bun.Tx) error { return TamperIn(ctx, db.Engine, tx, statements...) },
	)
	if err != nil {
		t.Fatalf("tamper: %v", err)
	}
}

// TamperIn is [Tamper] in a transaction.
func TamperIn(ctx context.Context, engine database.Engine, tx bun.Tx, statements ...string) error {
	var before, after []string
	if engine == database.Postgres {
		before = []string{"SET LOCAL session_replication_role = replica"}
		after = []string{"SET LOCAL session_replication_role = DEFAULT"}
	} else {
		var triggers []struct{ Name, SQL string }
		if err := tx.NewRaw("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").Scan(ctx, &triggers); err != nil {
			return err
		}
		for _, trigger := range triggers {
			before, after = append(before, "DROP TRIGGER "+trigger.Name), append(after, trigger.SQL)
		}
	}
	for _, list := range [][]string{before, statements, after} {
		for _, statement := range list {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}
