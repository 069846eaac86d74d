package database_test

import (
	"slices"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAPurgeLeavesOutATableThatOthersKeepLocked(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	db := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	holder, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }()
	if _, err := holder.ExecContext(t.Context(), "LOCK TABLE files IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	notes, complete, err := database.Purge(t.Context(), db)
	if err != nil || complete || !slices.Contains(notes, "files was not rewritten: others keep it locked") {
		t.Errorf("got %q, %t, %v, want all but one table", notes, complete, err)
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if notes, complete, err := database.Purge(t.Context(), db); err != nil || !complete {
		t.Errorf("got %q, %t, %v, want everything", notes, complete, err)
	}
}
