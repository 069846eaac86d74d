package database_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAReadingEndsWhereSomebodyHasHadEnough(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const three = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
		read := 0
		until := func(second error) func(*sql.Rows) error {
			read = 0
			return func(*sql.Rows) error {
				if read++; read == 2 {
					return second
				}
				return nil
			}
		}
		if err := database.ForEach(t.Context(), db, until(database.ErrEnough), three); err != nil || read != 2 {
			t.Errorf("read %d: %v", read, err)
		}
		if err := database.ForEach(t.Context(), db, until(sql.ErrNoRows), three); !errors.Is(err, sql.ErrNoRows) || read != 2 {
			t.Errorf("read %d: %v", read, err)
		}
		if err := database.ForEach(t.Context(), db, until(nil), three); err != nil || read != 3 {
			t.Errorf("read %d: %v", read, err)
		}
	})
}
