package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// Query is a query of a [Batch], with the function that reads its rows.
type Query struct {
	SQL    string // complete, unless there are Values
	Values []any  // for a frequent query with a constant text, which each connection prepares once
	Each   func(*sql.Rows) error
}

// Batch is a list of queries that run one after the other. Each is a separate statement, which sees what was
// committed when it began. On PostgreSQL, a batch takes one round trip.
type Batch []Query

// Run runs the queries in a transaction.
func (b Batch) Run(ctx context.Context, tx bun.IDB) error {
	if tx.Dialect().Name() == dialect.SQLite || len(b) == 0 {
		for _, q := range b {
			if err := q.run(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
	queries := make([]string, len(b))
	for i, q := range b {
		if queries[i] = q.SQL; len(q.Values) > 0 {
			t, transacts := ctx.Value(transacting{}).(*transaction)
			if !transacts {
				return errNoTransaction
			}
			queries[i] = t.execute(q)
		}
	}
	rows, err := tx.QueryContext(ctx, strings.Join(queries, ";\n"))
	if err != nil {
		return Classify(ctx, err)
	}
	defer rows.Close()
	for i, q := range b {
		if i > 0 && !rows.NextResultSet() {
			break
		}
		if err := ScanAll(ctx, rows, q.Each); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("next result: %w", Classify(ctx, err))
	}
	return nil
}

func (q Query) run(ctx context.Context, tx bun.IDB) error {
	rows, err := q.send(ctx, tx) //nolint:rowserrcheck // ScanAll does
	if err != nil {
		return Classify(ctx, err)
	}
	defer rows.Close()
	return ScanAll(ctx, rows, q.Each)
}

// send sends the query to SQLite.
func (q Query) send(ctx context.Context, tx bun.IDB) (*sql.Rows, error) {
	if len(q.Values) == 0 {
		return tx.QueryContext(ctx, q.SQL)
	}
	s, err := prepared(ctx, tx, statement{text: q.SQL}) //nolint:sqlclosecheck // it ends with the transaction
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.WithoutCancel(ctx), q.Values...)
}
