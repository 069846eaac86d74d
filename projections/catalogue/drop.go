package catalogue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/rows"
)

// keyOf names the columns of a table's key on SQLite.
func keyOf(t rows.Tables, table bun.Ident) []string {
	switch table {
	case t.Postings.Name:
		return []string{"tenant", "term", "block"}
	case t.Votes.Name:
		return []string{"tenant", "id", "event_id"}
	case t.Reports.Name:
		return []string{"tenant", "id", "reporter"}
	}
	return []string{"rowid"}
}

// BatchRows is how many rows a rebuild, or the end of a version, writes in one transaction. On SQLite all other writes
// wait for it, some tens of milliseconds. On PostgreSQL none does, and a round trip should carry much.
func BatchRows(engine database.Engine) int {
	if engine == database.SQLite {
		return 5000
	}
	return 20_000
}

// HasTable tells whether the database has a table.
func (p *Catalogue) HasTable(ctx context.Context, db bun.IDB, name string) (there bool, err error) {
	query := db.NewSelect().TableExpr("sqlite_schema").ColumnExpr("count(*) > 0").Where("name = ?", name)
	if p.DB.Engine == database.Postgres {
		query = db.NewSelect().ColumnExpr("to_regclass(?) IS NOT NULL", name)
	}
	err = query.Scan(ctx, &there)
	return there, err
}

// Empty deletes a table's rows in batches, before the table is dropped. On SQLite, dropping ten million rows at once
// would block all writers for seconds. On PostgreSQL it does nothing.
func (p *Catalogue) Empty(ctx context.Context, t rows.Tables, table bun.Ident) error {
	return p.EmptyBy(ctx, table, keyOf(t, table)...)
}

// EmptyBy is Empty for a table with a key of these columns.
func (p *Catalogue) EmptyBy(ctx context.Context, table bun.Ident, columns ...string) error {
	if p.DB.Engine != database.SQLite {
		return nil
	}
	if there, err := p.HasTable(ctx, p.DB, string(table)); err != nil || !there {
		return err
	}
	key := strings.Join(columns, ", ")
	for {
		until := make([]any, len(columns))
		places := make([]any, len(until))
		for i := range until {
			places[i] = &until[i]
		}
		err := p.DB.QueryRowContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d", key, table, key,
			BatchRows(p.DB.Engine))).Scan(places...)
		switch {
		case errors.Is(err, sql.ErrNoRows): // few rows are left: dropping the table is fast
			return nil
		case err != nil:
			return rows.Failed(ctx, "find the end of a batch", err)
		}
		remove := fmt.Sprintf("DELETE FROM %s WHERE (%s) < (%s)", table, key,
			strings.TrimSuffix(strings.Repeat("?, ", len(until)), ", "))
		err = p.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, remove, until...)
			return err
		})
		if err != nil {
			return err
		}
	}
}
