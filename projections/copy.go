package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// copyInto writes an image into the empty places of a version's tables: COPY on PostgreSQL, statements
// that are kept on SQLite.
func copyInto(ctx context.Context, engine database.Engine, tx bun.Tx, t tables, i *image) error {
	for _, part := range []struct {
		table   bun.Ident
		columns []string
		rows    [][]any
	}{
		{t.knowledge, knowledgeColumns, i.knowledge},
		{t.scopes, scopesColumns, i.scopes},
		{t.terms, termsColumns, i.terms},
		{t.votes, votesColumns, i.votes},
		{t.reports, reportsColumns, i.reports},
	} {
		if len(part.rows) == 0 {
			continue
		}
		if err := copyRows(ctx, engine, tx, string(part.table), part.columns, part.rows); err != nil {
			return fmt.Errorf("copy into %s: %w", part.table, err)
		}
	}
	return nil
}

func copyRows(ctx context.Context, engine database.Engine, tx bun.Tx, table string, columns []string, rows [][]any) (err error) {
	if engine == database.SQLite {
		return insertRows(ctx, tx, table, columns, rows)
	}
	copying, err := tx.PrepareContext(ctx, pq.CopyIn(table, columns...)) //nolint:staticcheck // the driver's interface to COPY
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copying.Close()) }()
	for _, row := range rows {
		if _, err := copying.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	_, err = copying.ExecContext(ctx)
	return err
}

// insertRows writes rows on SQLite, with statements of many rows each: one of a single row spends half of its time on being
// a statement.
func insertRows(ctx context.Context, tx bun.Tx, table string, columns []string, rows [][]any) error {
	var script database.Script
	script.Insert(database.SQLite, table+" ("+strings.Join(columns, ", ")+")", "", rows)
	return script.Run(ctx, tx)
}
