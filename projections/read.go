package projections

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// read is a query and what becomes of its rows.
type read struct {
	query  fmt.Stringer
	values []any // of SQLite's queries that come again and again: see [database.QueryPrepared]
	scan   func(ctx context.Context, db *bun.DB, rows *sql.Rows) error
}

// readEach hands every row to each.
func readEach[T any](query fmt.Stringer, each func(*T)) read {
	return read{query: query, scan: func(ctx context.Context, db *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
			var found T
			if err := db.ScanRow(ctx, rows, &found); err != nil {
				return err
			}
			each(&found)
		}
		return nil
	}}
}

// readNothing runs a statement for its effect.
func readNothing(query fmt.Stringer) read {
	return read{query: query, scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
		}
		return nil
	}}
}

// readFor does somebody else's reading.
func readFor(r database.Query) read {
	return read{query: statement(r.SQL), values: r.Values, scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
			if err := r.Each(rows); err != nil {
				return err
			}
		}
		return nil
	}}
}

// readPrepared is [readEach] for a query whose values are given apart.
func readPrepared[T any](query string, each func(*T), values ...any) read {
	r := readEach(statement(query), each)
	r.values = values
	return r
}

// statement is a query that is complete.
type statement string

func (s statement) String() string { return string(s) }

// readAll runs queries one after the other, each a statement of its own; on PostgreSQL in one round
// trip.
func (p *Knowledge) readAll(ctx context.Context, tx bun.IDB, reads []read) error {
	if p.db.Engine == database.SQLite {
		for _, r := range reads {
			if err := p.readSets(ctx, tx, []read{r}); err != nil {
				return err
			}
		}
		return nil
	}
	return p.readSets(ctx, tx, reads)
}

func (p *Knowledge) readSets(ctx context.Context, tx bun.IDB, reads []read) error {
	if len(reads) == 0 {
		return nil
	}
	statements := make([]string, len(reads))
	for i, r := range reads {
		statements[i] = r.query.String()
	}
	all := database.Query{SQL: strings.Join(statements, ";\n")}
	if len(reads) == 1 {
		all.Values = reads[0].values
	}
	rows, err := all.Rows(ctx, tx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for i, r := range reads {
		if i > 0 && !rows.NextResultSet() {
			break
		}
		if err := r.scan(ctx, p.db.DB, rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
