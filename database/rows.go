package database

import (
	"context"
	"database/sql"
	"errors"
)

// Querier runs queries: the pool, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ErrEnough ends the reading of rows without an error.
var ErrEnough = errors.New("enough")

// ForEach calls each for every row, until it returns [ErrEnough]. It classifies errors of the database, and returns
// other errors of each unchanged.
func ForEach(ctx context.Context, db Querier, each func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return Classify(ctx, err)
	}
	defer rows.Close()
	return ScanAll(ctx, rows, each)
}

// ScanAll calls each for every row of the current result set, until it returns [ErrEnough].
func ScanAll(ctx context.Context, rows *sql.Rows, each func(*sql.Rows) error) error {
	for rows.Next() {
		switch err := each(rows); {
		case errors.Is(err, ErrEnough):
			return nil
		case err != nil:
			return err
		}
	}
	return Classify(ctx, rows.Err())
}
