package database_test

import (
	"context"
	"errors"
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	databasetest.Until(t, "the log is copied", func() bool { log := pages(ctx, t, db); return log.copied >= log.logged })
	write("INSERT INTO notes VALUES ('a little more')")
	if log := pages(ctx, t, db); log.logged > 10 {
		t.Errorf("the log has %d pages: it goes on, though everything in it is in the file", log.logged)
	}
}

// TestALogIsBegunAnewThoughSomebodyAlwaysReads lets each who reads begin before the one before ends.
func TestALogIsBegunAnewThoughSomebodyAlwaysReads(t *testing.T) {
	t.Parallel()
	db, write := notes(t)
	copies := db.CopiesWhenTold(t, 5*time.Minute) // until there is such a moment, however slow the machine
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	first := beginToRead(ctx, t, db)
	for pages(ctx, t, db).logged <= database.TooLongLog {
		write("INSERT INTO notes VALUES (randomblob(131072))")
	}
	if log := pages(ctx, t, db); log.copied > 0 {
		t.Fatalf("of %d pages %d are in the file: whoever writes has copied them", log.logged, log.copied)
	}
	copied := make(chan error, 1)
	go func() {
		_, err := copies.Copy(ctx)
		copied <- err
	}()
	for !copies.Waits() {
		select {
		case err := <-copied:
			t.Fatalf("it does not wait for who reads: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	second := beginToRead(ctx, t, db)
	first()
	databasetest.Until(t, "the log is copied", func() bool { log := pages(ctx, t, db); return log.copied >= log.logged })
	third := beginToRead(ctx, t, db) // what is in the file
	defer third()
	second()
	if err := <-copied; err != nil {
		t.Fatal(err)
	}
	write("INSERT INTO notes VALUES ('a little more')")
	if log := pages(ctx, t, db); log.logged > 10 {
		t.Errorf("the log has %d pages: it goes on, though everything in it is in the file", log.logged)
	}
}

// TestALogThatSomebodyNeedsIsGivenUpForNow does not wait for a reader who does not end.
func TestALogThatSomebodyNeedsIsGivenUpForNow(t *testing.T) {
	t.Parallel()
	db, write := notes(t)
	copies := db.CopiesWhenTold(t, time.Millisecond)
	ctx := t.Context()
	ended := beginToRead(ctx, t, db)
	for pages(ctx, t, db).logged <= database.TooLongLog {
		write("INSERT INTO notes VALUES (randomblob(131072))")
	}
	if held, err := copies.Copy(ctx); err != nil || !held {
		t.Fatalf("held %t (%v), want a reader to be in the way", held, err)
	}
	ended()
	if held, err := copies.Copy(ctx); err != nil || held {
		t.Fatalf("held %t (%v), want it copied", held, err)
	}
	write("INSERT INTO notes VALUES ('a little more')")
	if log := pages(ctx, t, db); log.logged > 10 {
		t.Errorf("the log has %d pages: it goes on", log.logged)
	}
}

// walPages are how many pages the log has, and how many of them are in the file.
type walPages struct{ logged, copied int }

func pages(ctx context.Context, t *testing.T, db *database.DB) (log walPages) {
	t.Helper()
	var busy int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &log.logged, &log.copied); err != nil {
		t.Fatal(err)
	}
	return log
}

// beginToRead reads what is there, and needs it until end.
func beginToRead(ctx context.Context, t *testing.T, db *database.DB) (end func()) {
	t.Helper()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var found int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM notes").Scan(&found); err != nil {
		t.Fatal(errors.Join(err, tx.Rollback()))
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
