package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// keyOf names the columns that SQLite keeps a table in order of.
func (t tables) keyOf(table bun.Ident) []string {
	switch table {
	case t.scopes:
		return []string{"tenant", "scope", "number"}
	case t.terms:
		return []string{"tenant", "term", "scope", "number"}
	case t.votes:
		return []string{"tenant", "id", "event_id"}
	case t.reports:
		return []string{"tenant", "id", "reporter"}
	}
	return []string{"rowid"}
}

// empty deletes a table's rows bit by bit, before it is dropped. Dropping a table of ten million rows
// keeps SQLite's writer busy for seconds; PostgreSQL's costs nobody anything.
func (p *Knowledge) empty(ctx context.Context, b *batches, t tables, table bun.Ident) error {
	return p.emptyBy(ctx, b, table, t.keyOf(table)...)
}

// emptyBy is empty for a table that SQLite keeps in the order of some columns.
func (p *Knowledge) emptyBy(ctx context.Context, b *batches, table bun.Ident, columns ...string) error {
	if p.db.Engine != database.SQLite {
		return nil
	}
	var there bool
	err := p.db.NewSelect().TableExpr("sqlite_schema").ColumnExpr("count(*) > 0").Where("name = ?", string(table)).Scan(ctx, &there)
	if err != nil || !there {
		return err
	}
	key := strings.Join(columns, ", ")
	for {
		rows := b.rows()
		until := make([]any, len(columns))
		places := make([]any, len(until))
		for i := range until {
			places[i] = &until[i]
		}
		err := p.db.QueryRowContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d", key, table, key, rows)).Scan(places...)
		switch {
		case errors.Is(err, sql.ErrNoRows): // dropping the rest is as fast
			return nil
		case err != nil:
			return p.failed(ctx, "find the end of a batch", err)
		}
		remove := fmt.Sprintf("DELETE FROM %s WHERE (%s) < (%s)", table, key, strings.TrimSuffix(strings.Repeat("?, ", len(until)), ", "))
		err = b.write(p.db, rows, func() (time.Duration, error) {
			var began time.Time
			err := p.db.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
				began = time.Now()
				_, err := tx.ExecContext(ctx, remove, until...)
				return err
			})
			return time.Since(began), err
		})
		if err != nil {
			return err
		}
	}
}
