package rows

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// Read is a query and what becomes of its rows.
type Read struct {
	Query  fmt.Stringer
	values []any // of SQLite's queries that come again and again: see [database.QueryPrepared]
	Scan   func(ctx context.Context, db *bun.DB, rows *sql.Rows) error
}

// ReadEach hands every row to each.
func ReadEach[T any](query fmt.Stringer, each func(*T)) Read {
	return Read{Query: query, Scan: func(ctx context.Context, db *bun.DB, rows *sql.Rows) error {
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

// ReadNothing runs a statement for its effect.
func ReadNothing(query fmt.Stringer) Read {
	return Read{Query: query, Scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
		}
		return nil
	}}
}

// ReadFor does somebody else's reading.
func ReadFor(r database.Query) Read {
	return Read{Query: statement(r.SQL), values: r.Values, Scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
			if err := r.Each(rows); err != nil {
				return err
			}
		}
		return nil
	}}
}

// ReadPrepared is [ReadEach] for a query whose values are given apart.
func ReadPrepared[T any](query string, each func(*T), values ...any) Read {
	r := ReadEach(statement(query), each)
	r.values = values
	return r
}

// statement is a query that is complete.
type statement string

func (s statement) String() string { return string(s) }

// ReadAll runs queries one after the other, each a statement of its own; on PostgreSQL in one round
// trip.
func ReadAll(ctx context.Context, db *database.DB, tx bun.IDB, reads []Read) error {
	if db.Engine == database.SQLite {
		for _, r := range reads {
			if err := readSets(ctx, db, tx, []Read{r}); err != nil {
				return err
			}
		}
		return nil
	}
	return readSets(ctx, db, tx, reads)
}

func readSets(ctx context.Context, db *database.DB, tx bun.IDB, reads []Read) error {
	if len(reads) == 0 {
		return nil
	}
	statements := make([]string, len(reads))
	for i, r := range reads {
		statements[i] = r.Query.String()
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
		if err := r.Scan(ctx, db.DB, rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
