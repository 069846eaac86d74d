package database

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"
)

// Script is statements that are run one after the other, in one transaction. To PostgreSQL they go in one
// message, complete with their values. On SQLite the rows to insert are given apart from their statements,
// so that these are parsed once for all transactions.
type Script struct {
	Text       []byte // statements that come after the insertions, each with its semicolon
	insertions []insertionStep
}

// insertionStep is an insertion, and the statements before it.
type insertionStep struct {
	text string
	insertion
}

// insertion is rows to insert.
type insertion struct {
	into string // the table, and its columns in parentheses
	then string // ON CONFLICT …; empty for nothing
	rows [][]any
}

// Add adds a statement.
func (s *Script) Add(statement string) { s.Text = append(append(s.Text, statement...), ";\n"...) }

// Insert inserts rows into a table, which is named with its columns: "items (id, name)". The values are what
// [AppendLiteral] knows. then is what becomes of rows that are there: "ON CONFLICT …".
func (s *Script) Insert(engine Engine, into, then string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	if then != "" {
		then = "\n" + then
	}
	if engine == SQLite {
		s.insertions = append(s.insertions, insertionStep{string(s.Text), insertion{into, then, rows}})
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

// Append adds all of another script, which must not be used any more.
func (s *Script) Append(other *Script) {
	if len(other.insertions) > 0 {
		other.insertions[0].text = string(s.Text) + other.insertions[0].text
		s.insertions = append(s.insertions, other.insertions...)
		s.Text = nil
	}
	s.Text = append(s.Text, other.Text...)
}

// Run runs the statements.
func (s *Script) Run(ctx context.Context, tx bun.IDB) error {
	if err := s.insert(ctx, tx); err != nil || len(s.Text) == 0 {
		return err
	}
	_, err := tx.ExecContext(ctx, string(s.Text))
	return err
}

// Finish runs the statements as the last ones of the transaction of [DB.Transact] that ctx is of. On
// PostgreSQL they go to the server together with COMMIT, which saves a round trip, and their error is that of
// the COMMIT; elsewhere they run at once.
func (s *Script) Finish(ctx context.Context, tx bun.IDB) error {
	if err := s.insert(ctx, tx); err != nil || len(s.Text) == 0 {
		return err
	}
	return Finally(ctx, tx, string(s.Text))
}

// insert runs everything up to the last insertion.
func (s *Script) insert(ctx context.Context, tx bun.IDB) error {
	for _, c := range s.insertions {
		if c.text != "" {
			if _, err := tx.ExecContext(ctx, c.text); err != nil {
				return err
			}
		}
		if _, err := unformatted(tx).ExecContext(ctx, c.into, c.insertion); err != nil {
			return err
		}
	}
	return nil
}

// driverValue is a value that [AppendLiteral] knows, as drivers take it.
func driverValue(value any) any {
	switch v := value.(type) {
	case string, int64, float64, bool:
		return value
	case int:
		return int64(v)
	case float32:
		return wide(v)
	case []byte:
		if v == nil {
			return nil
		}
		return v
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case sql.NullString:
		if !v.Valid {
			return nil
		}
		return v.String
	case Time:
		if v.IsZero() {
			return nil
		}
		return v.String()
	}
	panic(fmt.Sprintf("database: %T is no value of a row", value))
}

// wide is the number of 64 bits that is written as this one is.
func wide(number float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(number), 'g', -1, 32), 64) // what was formatted parses
	return wide
}
