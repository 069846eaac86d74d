package database

import (
	"context"
	"slices"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// Script is a list of statements for one transaction. PostgreSQL gets them in one message, with their values. SQLite
// gets the rows to insert apart from their statements, which it parses once for all transactions.
type Script struct {
	Text       []byte // statements after the insertions, each with its semicolon
	insertions []insertion
}

// insertion is a list of rows to insert, with the statements before it.
type insertion struct {
	text string
	into string // the table, and its columns in parentheses
	then string // ON CONFLICT …; empty for nothing
	rows [][]any
}

// Add adds a statement.
func (s *Script) Add(statement string) { s.Text = append(append(s.Text, statement...), ";\n"...) }

// Insert inserts rows into a table, given with its columns: "items (id, name)". [AppendLiteral] lists the types of
// values. then handles existing rows: "ON CONFLICT …".
func (s *Script) Insert(engine Engine, into, then string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	if then != "" {
		then = "\n" + then
	}
	if engine == SQLite {
		s.insertions = append(s.insertions, insertion{string(s.Text), into, then, rows})
		s.Text = nil
		return
	}
	s.Text = append(s.Text, Insertion(engine)+into+"\nVALUES "...)
	for i, row := range rows {
		if i > 0 {
			s.Text = append(s.Text, ",\n"...)
		}
		s.Text = AppendRow(s.Text, engine, row)
	}
	s.Text = append(append(s.Text, then...), ";\n"...)
}

// Run runs the statements. On SQLite, it inserts rows with prepared statements of a few sizes, each half of the one
// before.
func (s *Script) Run(ctx context.Context, tx bun.IDB) error {
	const mostValues, mostRows = 700, 64 // per statement; larger ones are not faster
	var values []any
	for _, step := range s.insertions {
		if step.text != "" {
			if _, err := tx.ExecContext(ctx, step.text); err != nil {
				return err
			}
		}
		rows := step.rows
		for size := mostRows; len(rows) > 0; size /= 2 {
			if size > 1 && size*len(rows[0]) > mostValues {
				continue
			}
			for ; len(rows) >= size; rows = rows[size:] {
				var shared int
				values, shared = bound(values[:0], rows[:size])
				insert, err := prepared( //nolint:sqlclosecheck // as in batch.go
					ctx, tx, statement{step.into, step.then, size, shared})
				if err != nil {
					return err
				}
				if _, err := insert.ExecContext(context.WithoutCancel(ctx), values...); err != nil {
					return err
				}
			}
		}
	}
	if len(s.Text) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, string(s.Text))
	return err
}

// bound appends the values of rows in binding order. If there are many rows, they bind leading values that all of
// them share, such as the tenant, once. A rebuild's index of words takes a quarter less time (11 lines).
func bound(values []any, rows [][]any) (_ []any, shared int) {
	const many = 16 // fewer rows are not worth a cached statement of their own
	for len(rows) >= many && shared < len(rows[0]) && sharesValue(rows, shared) {
		shared++
	}
	for i, row := range rows {
		if i > 0 {
			row = row[shared:]
		}
		for _, value := range row {
			switch v := value.(type) {
			case float32:
				value = wide(v)
			case []byte:
				if v == nil {
					value = nil
				}
			}
			values = append(values, value)
		}
	}
	return values, shared
}

// sharesValue tells whether all rows have the same text or number at i.
func sharesValue(rows [][]any, i int) bool {
	switch rows[0][i].(type) {
	case string, int64:
	default:
		return false
	}
	return !slices.ContainsFunc(rows, func(row []any) bool { return row[i] != rows[0][i] })
}

// Finish runs the statements as the last ones of ctx's [DB.Transact] transaction. On PostgreSQL they are sent with
// COMMIT, which saves a round trip, and their error is the error of the COMMIT. On SQLite they run at once.
func (s *Script) Finish(ctx context.Context, tx bun.IDB) error {
	t, transacts := ctx.Value(transacting{}).(*transaction)
	if !transacts || tx.Dialect().Name() != dialect.PG {
		return s.Run(ctx, tx)
	}
	t.last += string(s.Text)
	return nil
}

// wide is the 64-bit number with the same shortest decimal form.
func wide(number float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(number), 'g', -1, 32), 64) // what was formatted parses
	return wide
}
