package database_test

import (
	"database/sql"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestWhoTraversesReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		var kept database.Querier
		err := db.WithScanPool(t.Context(), 2, func(reads database.Querier) error {
			kept = reads
			return database.ForEach(t.Context(), reads, func(rows *sql.Rows) error { return rows.Err() }, "SELECT * FROM things")
		})
		if err != nil {
			t.Error(err)
		}
		if db.Engine != database.SQLite {
			return
		}
		if err := database.ForEach(t.Context(), kept, func(*sql.Rows) error { return nil }, "SELECT 1"); err == nil {
			t.Error("its connections are open still")
		}
	})
}

// Without a larger part of the file mapped, a rebuild takes a fifth longer.
func TestWhoTraversesMapsMoreOfTheFileAndWritesNothing(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	newThings(t, db)
	mapped := func(reads database.Querier) (bytes int64) {
		if err := database.ForEach(t.Context(), reads, func(rows *sql.Rows) error { return rows.Scan(&bytes) }, "PRAGMA mmap_size"); err != nil {
			t.Error(err)
		}
		return bytes
	}
	err := db.WithScanPool(t.Context(), 1, func(reads database.Querier) error {
		if usual, more := mapped(db), mapped(reads); more <= usual {
			t.Errorf("maps %d bytes, others %d", more, usual)
		}
		return database.ForEach(t.Context(), reads, func(*sql.Rows) error { return nil }, "DELETE FROM things")
	})
	if err == nil {
		t.Error("wrote")
	}
}
