package projections

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// script collects statements that go to the database together. Those that every append needs are
// written without the query builder, which takes longer over a row than the database.
type script struct {
	engine database.Engine
	text   []byte
}

// add adds a whole statement.
func (s *script) add(query fmt.Stringer) {
	s.write(query.String())
	s.end()
}

// insert begins a statement that inserts rows, of which there is at least one.
func (s *script) insert(table bun.Ident, columns []string, rows [][]any) {
	s.write(database.Insertion(s.engine), string(table), " (", strings.Join(columns, ", "), ") VALUES\n")
	for i, values := range rows {
		if i > 0 {
			s.write(",\n")
		}
		s.text = database.AppendRow(s.text, s.engine, values)
	}
}

func (s *script) write(parts ...string) {
	for _, part := range parts {
		s.text = append(s.text, part...)
	}
}

func (s *script) end() { s.write(";\n") }

// finish runs the statements as the last ones of the transaction.
func (s *script) finish(ctx context.Context, tx bun.IDB) error {
	if len(s.text) == 0 {
		return nil
	}
	if err := database.Finally(ctx, tx, string(s.text)); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}

func (s *script) run(ctx context.Context, tx bun.IDB) error {
	if len(s.text) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, string(s.text)); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}
