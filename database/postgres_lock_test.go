package database_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestADatabaseWithoutWorkingLocksIsRefused(t *testing.T) {
	t.Parallel()
	address := databasetest.Postgres(t)
	execute(t, databasetest.Open(t, address).DB.DB, `
		CREATE FUNCTION public.pg_try_advisory_xact_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'`)
	_, err := database.Open(t.Context(), withQuery(t, address, "search_path", "public,pg_catalog"), databasetest.Log(t))
	if err == nil || !strings.Contains(err.Error(), "use a server of PostgreSQL itself") {
		t.Errorf("got %v, want a refusal that names a way out", err)
	}
}

func TestTheCheckOfTheLocksLeavesNoLock(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Postgres(t))
	var locks int
	err := db.QueryRowContext(t.Context(), `
		SELECT count(*)
		FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&locks)
	if err != nil || locks != 0 {
		t.Errorf("got %d locks, %v, want none", locks, err)
	}
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
