package database_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAStandbyIsReadAndRefusesWrites(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two PostgreSQL servers")
	}
	pair := databasetest.NewPair(t)
	primary := databasetest.Open(t, pair.First)
	if err := database.Migrate(t.Context(), primary); err != nil {
		t.Fatal(err)
	}
	execute(t, primary.DB.DB, "CREATE TABLE things AS SELECT 1 AS thing")
	databasetest.Until(t, "the standby has the table", func() bool {
		return pair.Ask(pair.Second, "SELECT count(to_regclass('things'))") == "1"
	})
	standby := databasetest.Open(t, pair.Second)
	if !standby.Standby() || primary.Standby() || standby.ID() != primary.ID() || standby.ID() == "" {
		t.Errorf("got %s %q, and %s %q", primary.Role(), primary.ID(), standby.Role(), standby.ID())
	}
	err := standby.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO things VALUES (2)")
		return err
	})
	if !errors.Is(err, database.ErrReadOnly) {
		t.Errorf("got %v, want that it is read-only", err)
	}
	release, err := database.LockWriterTables(t.Context(), standby)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := standby.Replay(t.Context()); err != nil {
		t.Error(err)
	}
}

// The statement waits for a lock of another session when the primary truncates its table. Recovery cancels it, and it
// runs again.
func TestAStatementThatRecoveryCancelsRunsAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two PostgreSQL servers")
	}
	pair := databasetest.NewPair(t)
	primary := databasetest.Open(t, pair.First)
	execute(t, primary.DB.DB, "CREATE TABLE things AS SELECT 1 AS thing")
	pair.Ask(pair.Second, "ALTER SYSTEM SET max_standby_streaming_delay = 0")
	pair.Ask(pair.Second, "SELECT pg_reload_conf()")
	databasetest.Until(t, "the standby has the table", func() bool {
		return pair.Ask(pair.Second, "SELECT count(to_regclass('things'))") == "1"
	})
	standby, other := databasetest.Open(t, pair.Second), databasetest.Open(t, pair.Second)
	holder, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close() //nolint:errcheck // the test has ended
	if _, err := holder.ExecContext(t.Context(), "SELECT pg_advisory_lock(7)"); err != nil {
		t.Fatal(err)
	}
	counted := make(chan error, 1)
	var things int
	go func() {
		counted <- standby.QueryRowContext(t.Context(), `
			WITH locked AS MATERIALIZED (SELECT thing, pg_advisory_lock_shared(7) FROM things)
			SELECT count(*) FROM locked`).Scan(&things)
	}()
	databasetest.Until(t, "the statement waits", func() bool {
		return pair.Ask(pair.Second, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "1"
	})
	execute(t, primary.DB.DB, "TRUNCATE things")
	if err := <-counted; err != nil || things != 0 {
		t.Errorf("got %d things, %v, want none", things, err)
	}
}

func TestTheStatementTimeoutOfADatabaseIsNotThatOfASession(t *testing.T) {
	t.Parallel()
	address := databasetest.Postgres(t)
	named, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, databasetest.Open(t, address).DB.DB,
		"ALTER DATABASE "+strings.TrimPrefix(named.Path, "/")+" SET statement_timeout = '150ms'")
	for url, wanted := range map[string]string{
		address: "0", withQuery(t, address, "statement_timeout", "2000"): "2s",
	} {
		var set string
		err := databasetest.Open(t, url).QueryRowContext(t.Context(), "SHOW statement_timeout").Scan(&set)
		if err != nil || set != wanted {
			t.Errorf("got %s, %v, want %s", set, err, wanted)
		}
	}
}
