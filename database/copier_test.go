package database_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database/databasetest"
)

func TestALongLogIsCopiedIntoTheFileBesideWriters(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	write := func(statement string) {
		t.Helper()
		run(t, db, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		})
	}
	write("CREATE TABLE notes (text BLOB)")
	for range 9 { // 36 MiB: a long log, that is not yet one which a writer copies
		write("INSERT INTO notes VALUES (randomblob(4194304))")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	look := func() (logged, copied int) {
		t.Helper()
		var busy int
		if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &logged, &copied); err != nil {
			t.Fatal(err)
		}
		return logged, copied
	}
	for logged, copied := look(); copied < logged; logged, copied = look() {
		time.Sleep(time.Millisecond)
	}
	write("INSERT INTO notes VALUES ('a little more')")
	if logged, _ := look(); logged > 1000 {
		t.Errorf("the log has %d pages: it goes on, though everything in it is in the file", logged)
	}
}
