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
	database.Script
}

// add adds a whole statement.
func (s *script) add(query fmt.Stringer) { s.Add(query.String()) }

// insert inserts rows; then is what becomes of those that are there.
func (s *script) insert(table bun.Ident, columns []string, rows [][]any, then string) {
	s.Insert(s.engine, string(table)+" ("+strings.Join(columns, ", ")+")", then, rows)
}

func (s *script) write(parts ...string) {
	for _, part := range parts {
		s.Text = append(s.Text, part...)
	}
}

func (s *script) end() { s.write(";\n") }

// finish runs the statements as the last ones of the transaction.
func (s *script) finish(ctx context.Context, tx bun.IDB) error {
	if err := s.Finish(ctx, tx); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}

func (s *script) run(ctx context.Context, tx bun.IDB) error {
	if err := s.Run(ctx, tx); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}
