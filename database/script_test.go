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

// TestRowsThatBeginAlikeKeepTheirOwn inserts as many rows as make statements of every size, which begin with the
// same words and end with others.
func TestRowsThatBeginAlikeKeepTheirOwn(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		run(t, db, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE places (a TEXT, b TEXT, c TEXT, d TEXT, number BIGINT)")
			return err
		})
		for alike := range 5 {
			var rows [][]any
			var want []string
			for number := range 150 {
				row, told := []any{}, ""
				for column := range 4 {
					word := "same"
					if column >= alike {
						word = fmt.Sprint("row", number/2)
					}
					row, told = append(row, word), told+word+"|"
				}
				rows = append(rows, append(row, number))
				want = append(want, told+fmt.Sprint(number))
			}
			run(t, db, func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.ExecContext(ctx, "DELETE FROM places"); err != nil {
					return err
				}
				script := &database.Script{}
				script.Insert(db.Engine, "places (a, b, c, d, number)", "", rows)
				return script.Run(ctx, tx)
			})
			var got []string
			err := database.ForEach(t.Context(), db, func(found *sql.Rows) error {
				got = append(got, "")
				return found.Scan(&got[len(got)-1])
			}, "SELECT a || '|' || b || '|' || c || '|' || d || '|' || number FROM places ORDER BY number")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rows of which %d words are the same (-want +got):\n%s", alike, diff)
			}
		}
	})
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
			script, second := &database.Script{}, &database.Script{}
			script.Add("DELETE FROM things")
			script.Insert(db.Engine, things, "", numbered(n))
			script.Add("UPDATE things SET name = 'old'")
			second.Add("UPDATE things SET other = name")
			second.Insert(db.Engine, things, "ON CONFLICT (number) DO UPDATE SET name = excluded.name", numbered(n+1))
			second.Add("UPDATE things SET share = 2")
			script.Append(second)
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

// A query that is asked again while the first answer is being read does not disturb it, and what it asks may
// change meanwhile.
func TestAKeptQueryIsAskedAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.Postgres {
			t.Log("PostgreSQL is given the values with the query")
			return
		}
		newThings(t, db)
		const query = "SELECT number FROM things WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number"
		ask := func(ctx context.Context, tx bun.Tx, list string, each func(int)) error {
			rows, err := database.QueryPrepared(ctx, tx, query, list) //nolint:rowserrcheck // ScanAll does
			if err != nil {
				return err
			}
			defer rows.Close()
			return database.ScanAll(ctx, rows, func(rows *sql.Rows) error {
				var n int
				err := rows.Scan(&n)
				each(n)
				return err
			})
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
				var outer, inner []int
				err := ask(ctx, tx, "[1, 2]", func(n int) {
					outer = append(outer, n)
					if err := ask(ctx, tx, "[3]", func(n int) { inner = append(inner, n) }); err != nil {
						t.Error(err)
					}
				})
				if diff := cmp.Diff([][]int{{1, 2}, {3, 3}}, [][]int{outer, inner}); diff != "" {
					t.Error(diff)
				}
				return err
			})
		}
	})
}

// Rows that begin with the same word, as a tenant's do, are inserted as others are.
func TestRowsMayBeginAlike(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		newThings(t, db)
		for _, n := range []int{1, 2, 64, 65, 200} {
			for name, word := range map[string]func(number int) string{
				"all alike":                  func(int) string { return "acme" },
				"the last one otherwise":     func(number int) string { return map[bool]string{true: "other", false: "acme"}[number == n] },
				"the second one otherwise":   func(number int) string { return map[bool]string{true: "other", false: "acme"}[number == 2] },
				"each in a way of their own": func(number int) string { return fmt.Sprint(number) },
			} {
				rows, want := make([][]any, n), make([]string, n)
				for i := range rows {
					rows[i] = []any{word(i + 1), i + 1, 0.5, true}
					want[i] = fmt.Sprintf("%d|%s|NULL|0.5|NULL|yes|NULL", i+1, word(i+1))
				}
				run(t, db, func(ctx context.Context, tx bun.Tx) error {
					script := &database.Script{}
					script.Add("DELETE FROM things")
					script.Insert(db.Engine, "things (name, number, share, yes)", "", rows)
					return script.Finish(ctx, tx)
				})
				if diff := cmp.Diff(want, told(t, db)); diff != "" {
					t.Errorf("%d rows, %s: %s", n, name, diff)
				}
			}
		}
	})
}
