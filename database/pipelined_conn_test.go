package database_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestATransactionCostsARoundTripForWhatItReadsAndOneForWhatItWrites(t *testing.T) {
	t.Parallel()
	proxy := databasetest.NewProxy(t, databasetest.Postgres(t))
	db := databasetest.Open(t, proxy.URL)
	makeItems(t, db)
	for name, c := range map[string]struct {
		do   func(ctx context.Context, tx bun.Tx) error
		want int64
	}{
		"nothing": {func(context.Context, bun.Tx) error { return nil }, 0},
		"refused": {func(context.Context, bun.Tx) error { return errors.New("no") }, 0},
		"only what is written last": {func(ctx context.Context, tx bun.Tx) error {
			return finish(ctx, tx, `INSERT INTO items (id) VALUES (1)`)
		}, 1},
		"read, then written last": {func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.ExecContext(ctx, `SELECT 1`); err != nil {
				return err
			}
			return finish(ctx, tx, `INSERT INTO items (id) VALUES (2)`)
		}, 2},
		"prepared and read, then written last": {func(ctx context.Context, tx bun.Tx) error {
			each := func(*sql.Rows) error { return nil }
			reads := database.Batch{
				{SQL: `SELECT id FROM items WHERE id = ?`, Values: []any{int64(1)}, Each: each},
				{SQL: `SELECT id FROM items WHERE id > ?`, Values: []any{int64(1)}, Each: each},
			}
			if err := reads.Run(ctx, tx); err != nil {
				return err
			}
			return finish(ctx, tx, `INSERT INTO items (id) VALUES (4)`)
		}, 2},
		"written before the end": {func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (3)`)
			return err
		}, 2},
	} {
		before := proxy.Trips()
		if err := db.Transact(t.Context(), c.do); (err != nil) != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
		if got := proxy.Trips() - before; got != c.want {
			t.Errorf("%s: got %d round trips, want %d", name, got, c.want)
		}
	}
	if got := count(t, db); got != 4 {
		t.Errorf("got %d items, want 4", got)
	}
}

func TestTheLastStatementsAreWrittenOrNothingIs(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		twice := func(last string) error {
			return db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.ExecContext(ctx, `INSERT INTO items (id) VALUES (1)`); err != nil {
					return err
				}
				return finish(ctx, tx, last)
			})
		}
		if err := twice(`INSERT INTO items (id) VALUES (2); INSERT INTO items (id) VALUES (1)`); !errors.Is(err, database.ErrUnique) ||
			errors.Is(err, database.ErrOutcomeUnknown) {
			t.Errorf("got %v, want %v", err, database.ErrUnique)
		}
		if got := count(t, db); got != 0 {
			t.Errorf("after a refusal: got %d items, want none", got)
		}
		if err := twice(`INSERT INTO items (id) VALUES (2); INSERT INTO items (id) VALUES (3)`); err != nil {
			t.Error(err)
		}
		if got := count(t, db); got != 3 {
			t.Errorf("got %d items, want 3", got)
		}
	})
}

// Nobody asks for what comes after the last statements, but it comes after them.
func TestWhatFollowsTheLastStatementsSeesThem(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		makeItems(t, db)
		var seen int
		err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			if err := finish(ctx, tx, `INSERT INTO items (id) VALUES (1)`); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `SELECT count(*) FROM items`).Scan(&seen)
		})
		if err != nil || seen != 1 {
			t.Errorf("saw %d items, %v", seen, err)
		}
	})
}

// finish hands over the last statement of a transaction.
func finish(ctx context.Context, tx bun.Tx, statement string) error {
	script := &database.Script{}
	script.Add(statement)
	return script.Finish(ctx, tx)
}
