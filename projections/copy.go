package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// copyInto writes an image into the empty places of a version's tables: COPY on PostgreSQL, a prepared
// statement on SQLite.
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
		if err := copyRows(ctx, engine, tx.Tx, string(part.table), part.columns, part.rows); err != nil {
			return fmt.Errorf("copy into %s: %w", part.table, err)
		}
	}
	return nil
}

func copyRows(ctx context.Context, engine database.Engine, tx *sql.Tx, table string, columns []string, rows [][]any) (err error) {
	statement := pq.CopyIn(table, columns...) //nolint:staticcheck // the driver's interface to COPY
	if engine == database.SQLite {
		statement = "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" +
			strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	}
	copying, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copying.Close()) }()
	for _, row := range rows {
		if _, err := copying.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	if engine == database.Postgres {
		_, err = copying.ExecContext(ctx)
	}
	return err
}
