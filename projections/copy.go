package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// copyInto writes an image into the empty places of a version's tables: COPY on PostgreSQL, prepared
// statements on SQLite.
func copyInto(ctx context.Context, engine database.Engine, tx bun.Tx, t tables, i *image) error {
	for _, part := range []struct {
		table   bun.Ident
		columns []string
		rows    [][]any
	}{
		{t.knowledge, columnsWith(i.added), i.knowledge},
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

// insertedValues is how many values one statement inserts: one of a single row spends half of its time
// on being a statement.
const insertedValues = 600

// insertRows writes rows with prepared statements of many rows each, and one of the rest.
func insertRows(ctx context.Context, tx *sql.Tx, table string, columns []string, rows [][]any) error {
	most := max(1, insertedValues/len(columns))
	if whole := len(rows) / most * most; whole > 0 {
		if err := insertEach(ctx, tx, table, columns, rows[:whole], most); err != nil {
			return err
		}
		rows = rows[whole:]
	}
	if len(rows) == 0 {
		return nil
	}
	return insertEach(ctx, tx, table, columns, rows, len(rows))
}

// insertEach inserts so many rows at once. The first column is the tenant, whose rows they all are: it is
// handed over once a statement.
func insertEach(ctx context.Context, tx *sql.Tx, table string, columns []string, rows [][]any, at int) (err error) {
	tuple := "(?1" + strings.Repeat(", ?", len(columns)-1) + "), "
	inserting, err := tx.PrepareContext(ctx, "INSERT OR FAIL INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES "+
		strings.TrimSuffix(strings.Repeat(tuple, at), ", "))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inserting.Close()) }()
	values := make([]any, 0, 1+at*(len(columns)-1))
	for some := range slices.Chunk(rows, at) {
		values = append(values[:0], some[0][0])
		for _, row := range some {
			values = append(values, row[1:]...)
		}
		if _, err := inserting.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return nil
}
