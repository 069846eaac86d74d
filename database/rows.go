package database

import (
	"context"
	"database/sql"
)

// Querier is what reads: the pool, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ForEach calls each for every row of the answer. Errors of the database come back as [Classify] names
// them, those of each as they are.
func ForEach(ctx context.Context, db Querier, each func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return Classify(ctx, err)
	}
	defer rows.Close()
	return ScanAll(ctx, rows, each)
}

// ScanAll calls each for every row of the current result set.
func ScanAll(ctx context.Context, rows *sql.Rows, each func(*sql.Rows) error) error {
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return Classify(ctx, rows.Err())
}
