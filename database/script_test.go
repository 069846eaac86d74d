package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

const makeThings = `
	CREATE TABLE things (
		number BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, other TEXT, share DOUBLE PRECISION NOT NULL, bytes %s, yes BOOLEAN NOT NULL, at TEXT
	)`

const things = "things (number, name, other, share, bytes, yes, at)"

// newThings is a database with an empty table.
func newThings(t *testing.T, db *database.DB) {
	t.Helper()
	bytes := map[database.Engine]string{database.SQLite: "BLOB", database.Postgres: "BYTEA"}[db.Engine]
	run(t, db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(makeThings, bytes))
		return err
	})
}

func run(t *testing.T, db *database.DB, do func(context.Context, bun.Tx) error) {
	t.Helper()
	if err := db.Transact(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// told is every row, as text.
func told(t *testing.T, db *database.DB) (rows []string) {
	t.Helper()
	hex := map[database.Engine]string{database.SQLite: "hex(bytes)", database.Postgres: "upper(encode(bytes, 'hex'))"}[db.Engine]
	err := database.ForEach(t.Context(), db, func(found *sql.Rows) error {
		var row string
		defer func() { rows = append(rows, row) }()
		return found.Scan(&row)
	}, `SELECT number || '|' || name || '|' || coalesce(other, 'NULL') || '|' || share || '|' || CASE WHEN bytes IS NULL THEN 'NULL' ELSE `+hex+` END
		|| '|' || CASE WHEN yes THEN 'yes' ELSE 'no' END || '|' || coalesce(at, 'NULL') FROM things ORDER BY number`)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEveryValueIsInsertedAsItIs(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		some, at := "it's", database.At(time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC))
		rows := [][]any{
			{1, "a 'quoted' \\ 中文\n", &some, 0.1, []byte{0, 255}, true, at},
			{int64(2), "", (*string)(nil), float32(0.1), []byte(nil), false, database.Time{}},
			{3, "?", sql.NullString{String: "x", Valid: true}, 1e-7, []byte{}, true, sql.NullString{}},
		}
		run(t, db, func(ctx context.Context, tx bun.Tx) error {
			script := &database.Script{}
			script.Insert(db.Engine, things, "", rows)
			return script.Run(ctx, tx)
		})
		want := []string{
			"1|a 'quoted' \\ 中文\n|it's|0.1|00FF|yes|2026-03-01T12:00:00.000005Z",
			"2||NULL|0.1|NULL|no|NULL",
			"3|?|x|1e-07||yes|NULL",
		}
		got := told(t, db)
		got[2] = strings.Replace(got[2], "1.0e-07", "1e-07", 1) // SQLite's way to write it
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// However many rows there are, each is inserted once and in order, between the statements it stands between.
func TestAScriptRunsInItsOrder(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		for _, n := range []int{0, 1, 2, 3, 63, 64, 65, 200} {
			script := &database.Script{}
			script.Add("DELETE FROM things")
			script.Insert(db.Engine, things, "", numbered(n))
			script.Add("UPDATE things SET name = 'old'")
			script.Add("UPDATE things SET other = name")
			script.Insert(db.Engine, things, "ON CONFLICT (number) DO UPDATE SET name = excluded.name", numbered(n+1))
			script.Add("UPDATE things SET share = 2")
			run(t, db, func(ctx context.Context, tx bun.Tx) error { return script.Finish(ctx, tx) })
			var total, old, sum int
			err := db.QueryRowContext(t.Context(), "SELECT count(*), count(other), coalesce(sum(number), 0) FROM things WHERE name = 'new' AND share = 2").Scan(&total, &old, &sum)
			if err != nil {
				t.Fatal(err)
			}
			if want := n * (n + 1) / 2; total != n+1 || old != n || sum != want {
				t.Errorf("of %d rows there are %d, %d of them from before, which sum up to %d, want %d", n+1, total, old, sum, want)
			}
		}
	})
}

func numbered(n int) (rows [][]any) {
	for i := range n {
		rows = append(rows, []any{i, "new", (*string)(nil), 1.0, []byte(nil), true, database.Time{}})
	}
	return rows
}

func TestWhatCannotBeInsertedUndoesTheScript(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		for range 3 {
			err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				script := &database.Script{}
				script.Insert(db.Engine, things, "", append(numbered(70), numbered(1)...))
				return script.Finish(ctx, tx)
			})
			if err == nil {
				t.Fatal("the same key was inserted twice")
			}
			if rows := told(t, db); len(rows) > 0 {
				t.Fatalf("%d rows stayed", len(rows))
			}
		}
		run(t, db, func(ctx context.Context, tx bun.Tx) error {
			script := &database.Script{}
			script.Insert(db.Engine, things, "", numbered(70))
			return script.Finish(ctx, tx)
		})
		if rows := told(t, db); len(rows) != 70 {
			t.Errorf("got %d rows, want 70", len(rows))
		}
	})
}

// A query that is prepared is answered after the tables have changed, and after it failed.
func TestAPreparedQueryIsAskedAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		listed := "SELECT value FROM json_each(?)"
		if db.Engine == database.Postgres {
			listed = "SELECT value::bigint FROM json_array_elements_text(?::json)"
		}
		for round := range 3 {
			run(t, db, func(ctx context.Context, tx bun.Tx) error {
				script := &database.Script{}
				script.Add("DELETE FROM things")
				script.Add(fmt.Sprintf("ALTER TABLE things ADD COLUMN another_%d TEXT", round))
				script.Insert(db.Engine, things, "", numbered(4))
				if err := script.Run(ctx, tx); err != nil {
					return err
				}
				var found []int
				ask := func(list string) database.Query {
					return database.Query{
						SQL:    "SELECT number FROM things WHERE number IN (" + listed + ") ORDER BY number",
						Values: []any{list},
						Each: func(rows *sql.Rows) error {
							found = append(found, 0)
							return rows.Scan(&found[len(found)-1])
						},
					}
				}
				err := database.Batch{ask("[1, 2]"), ask("[3]")}.Run(ctx, tx)
				if diff := cmp.Diff([]int{1, 2, 3}, found); diff != "" {
					t.Error(diff)
				}
				return err
			})
			err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				missing := database.Query{SQL: "SELECT number FROM nothings WHERE number = ?", Values: []any{int64(1)}}
				return database.Batch{missing}.Run(ctx, tx)
			})
			if err == nil || strings.Contains(err.Error(), "prepared statement") {
				t.Errorf("a missing table: %v", err)
			}
		}
	})
}
