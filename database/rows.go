package database

import (
	"context"
	"database/sql"
	"errors"
)

// Querier is what reads: the pool, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ErrEnough ends a reading early, and well: the rows after this one are not wanted.
var ErrEnough = errors.New("enough")

// ForEach calls each for every row of the answer, until it returns [ErrEnough]. Errors of the database come back as
// [Classify] names them, other ones of each as they are.
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
