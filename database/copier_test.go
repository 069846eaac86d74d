package database_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// notes is a database with an empty table, and a way to write to it.
func notes(t *testing.T) (*database.DB, func(statement string)) {
	t.Helper()
	db := databasetest.Open(t, databasetest.SQLite(t))
	write := func(statement string) {
		t.Helper()
		run(t, db, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		})
	}
	write("CREATE TABLE notes (text BLOB)")
	return db, write
}

func TestALongLogIsCopiedIntoTheFileBesideWriters(t *testing.T) {
	t.Parallel()
	db, write := notes(t)
	for range 9 { // 36 MiB: a long log
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

// TestALogIsBegunAnewThoughSomebodyAlwaysReads lets two read by turns, each of whom begins before the other one ends,
// while so much is written that the log would be several times too long.
func TestALogIsBegunAnewThoughSomebodyAlwaysReads(t *testing.T) {
	t.Parallel()
	db, write := notes(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	turn, reading := make(chan struct{}, 1), make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case turn <- struct{}{}: // the other one is about to end
				case <-reading:
					return
				}
				if err := readForAWhile(ctx, db, turn); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	longest := 0
	for range 80 { // 4 MiB each, 320 MiB of what is too long at 128
		write("INSERT INTO notes VALUES (randomblob(4194304))")
		var busy, logged, copied int
		if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &logged, &copied); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, logged)
	}
	close(reading)
	readers.Wait()
	if most := 78_000; longest > most { // of 82,000 that were written, and would all be there
		t.Errorf("the log had %d pages, want %d at most", longest, most)
	}
}

// readForAWhile begins to read, lets the other one begin in the middle of that, and ends.
func readForAWhile(ctx context.Context, db *database.DB, turn chan struct{}) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	var found int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM notes").Scan(&found); err != nil {
		return err
	}
	time.Sleep(15 * time.Millisecond)
	<-turn
	time.Sleep(15 * time.Millisecond)
	return nil
}
