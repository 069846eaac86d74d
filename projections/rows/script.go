package rows

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// Script collects statements that go to the database together. It writes frequent statements without the query
// builder, which takes longer to format a row than the database takes to store it.
type Script struct {
	Engine database.Engine
	database.Script
}

// AddQuery adds a whole statement.
func (s *Script) AddQuery(query fmt.Stringer) { s.Add(query.String()) }

// InsertRows inserts rows; then is the ON CONFLICT clause.
func (s *Script) InsertRows(table bun.Ident, columns []string, rows [][]any, then string) {
	s.Insert(s.Engine, string(table)+" ("+strings.Join(columns, ", ")+")", then, rows)
}

func (s *Script) WriteText(parts ...string) {
	for _, part := range parts {
		s.Text = append(s.Text, part...)
	}
}

func (s *Script) EndStatement() { s.WriteText(";\n") }

// ExecuteLast runs the statements as the last ones of the transaction.
func (s *Script) ExecuteLast(ctx context.Context, tx bun.IDB) error {
	if err := s.Finish(ctx, tx); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}

func (s *Script) Execute(ctx context.Context, tx bun.IDB) error {
	if err := s.Run(ctx, tx); err != nil {
		return fmt.Errorf("write knowledge: %w", err)
	}
	return nil
}
