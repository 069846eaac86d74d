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

func TestWhatIsCommittedIsThere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		mustTransact(t, db, `INSERT INTO items (id) VALUES (1)`)
		if got, want := count(t, db), 1; got != want {
			t.Errorf("got %d items, want %d", got, want)
		}
	})
}

func TestAnErrorRollsBack(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		refused := errors.New("refused")
		err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (1)`); err != nil {
				return err
			}
			return refused
		})
		if err != refused { //nolint:errorlint // unwrapped, that is
			t.Errorf("got %v, want the function's own error", err)
		}
		if got := count(t, db); got != 0 {
			t.Errorf("got %d items, want none", got)
		}
	})
}

func TestAPanicRollsBackAndGivesTheTurnOn(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (1)`); err != nil {
					return err
				}
				panic("a bug")
			})
		}()
		mustTransact(t, db, `INSERT INTO items (id) VALUES (2)`)
		if got, want := count(t, db), 1; got != want {
			t.Errorf("got %d items, want %d", got, want)
		}
	})
}

func TestACommitThatIsRefusedIsAnErrorWithAKnownOutcome(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		mustTransact(t, db, `CREATE TABLE parts (item bigint REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED)`)

		err := transact(t, db, `INSERT INTO parts (item) VALUES (404)`)
		if err == nil || errors.Is(err, database.ErrOutcomeUnknown) {
			t.Errorf("got %v, want a refusal", err)
		}
		mustTransact(t, db, `INSERT INTO items (id) VALUES (1)`) // the connection is as good as before
	})
}

func TestCommittingAFailedTransactionIsAnError(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.SQLite {
			return // SQLite undoes the one statement and goes on
		}
		makeItems(t, db)
		err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, _ = tx.ExecContext(ctx, `SELECT 1 / 0`)
			return nil
		})
		if err == nil || errors.Is(err, database.ErrOutcomeUnknown) {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestATransactionInsideATransactionIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		err := db.Transact(t.Context(), func(ctx context.Context, _ bun.Tx) error {
			return db.Transact(ctx, func(context.Context, bun.Tx) error { return nil })
		})
		if err == nil {
			t.Error("got no error")
		}
	})
}

func TestACancelledTransactionRollsBack(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (1)`); err != nil {
				return err
			}
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if got := count(t, db); got != 0 {
			t.Errorf("got %d items, want none", got)
		}
	})
}

func TestWaitingToWriteEndsWithTheContext(t *testing.T) {
	t.Parallel()
	for engine, url := range map[database.Engine]string{
		database.SQLite:   databasetest.SQLite(t),
		database.Postgres: withQuery(t, databasetest.Postgres(t), "pool_max_conns", "2"), // one reads, one writes
	} {
		t.Run(engine.String(), func(t *testing.T) {
			db := databasetest.Open(t, url)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			err := db.Transact(t.Context(), func(context.Context, bun.Tx) error {
				return db.Transact(ctx, func(context.Context, bun.Tx) error { return nil })
			})
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
			}
		})
	}
}

func TestTheReadersOfSQLiteCannotWrite(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	makeItems(t, db)
	if _, err := db.ExecContext(t.Context(), `INSERT INTO items (id) VALUES (1)`); err == nil {
		t.Error("a write outside of Transact got through")
	}
}

func makeItems(t *testing.T, db *database.DB) {
	t.Helper()
	mustTransact(t, db, `CREATE TABLE items (id bigint PRIMARY KEY)`)
}

func mustTransact(t *testing.T, db *database.DB, statement string) {
	t.Helper()
	if err := transact(t, db, statement); err != nil {
		t.Fatal(err)
	}
}

func transact(t *testing.T, db *database.DB, statement string) error {
	t.Helper()
	return db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

func count(t *testing.T, db *database.DB) int {
	t.Helper()
	var items int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM items`).Scan(&items); err != nil {
		t.Fatal(err)
	}
	return items
}
