package rows

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
)

// Read is a query and a function that receives its rows.
type Read struct {
	Query  fmt.Stringer
	values []any // of a query that SQLite prepares once: see [database.Query]
	Scan   func(ctx context.Context, db *bun.DB, rows *sql.Rows) error
}

// ReadEach passes every row to each.
func ReadEach[T any](query fmt.Stringer, each func(*T)) Read {
	return Read{Query: query, Scan: func(ctx context.Context, db *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
			var found T
			err := scan(ctx, db, rows, &found)
			if r, isItem := any(&found).(*Row); err != nil && isItem && ctx.Err() == nil {
				return r.unreadable()
			}
			if err != nil {
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

// ReadFor is a query of another package.
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

// ReadPrepared is [ReadEach] for a query with separate values.
func ReadPrepared[T any](query string, each func(*T), values ...any) Read {
	r := ReadEach(statement(query), each)
	r.values = values
	return r
}

// statement is a query that is complete.
type statement string

func (s statement) String() string { return string(s) }

// ReadAll runs queries one after the other, each as its own statement. On PostgreSQL this is one round trip.
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

// Table is where rows are looked up.
type Table struct {
	Engine    database.Engine
	Tenant    string
	Table     schema.QueryAppender
	Alias     string
	Condition string // which rows count, as a partial index may want it; empty for all
}

// LookUp lets a query select rows by keys, which are values of some columns. It looks up each key in the index of
// those columns. With a join, either engine may compare all rows of the tenant with every key.
func LookUp[T any](query *bun.SelectQuery, in Table, keys [][]T, columns ...string) *bun.SelectQuery {
	wanted, equal := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		wanted[i] = fmt.Sprintf("column%d AS %s", i+1, column)
		equal[i] = fmt.Sprintf("%[1]s.%[2]s = wanted.%[2]s", in.Alias, column)
	}
	where := strings.Join(equal, " AND ")
	if in.Condition != "" {
		where += " AND " + in.Condition
	}
	from := "(SELECT " + strings.Join(wanted, ", ") + " FROM (VALUES ?) AS listed) AS wanted CROSS JOIN "
	if in.Engine == database.SQLite { // which never changes the order of a CROSS JOIN
		return query.ModelTableExpr(from+"? AS ?", Tuples(keys), in.Table, bun.Ident(in.Alias)).
			Where("?.tenant = ?", bun.Ident(in.Alias), in.Tenant).Where(where)
	}
	return query.ModelTableExpr(from+"LATERAL (SELECT * FROM ? AS ? WHERE tenant = ? AND "+where+" OFFSET 0) AS ?",
		Tuples(keys), in.Table, bun.Ident(in.Alias), in.Tenant, bun.Ident(in.Alias))
}

// SingleKeys makes a key of every value.
func SingleKeys[T any](values []T) [][]T {
	keys := make([][]T, len(values))
	for i, value := range values {
		keys[i] = []T{value}
	}
	return keys
}

// Set is a set of names.
type Set map[string]bool

func (s Set) Add(list *[]string, value string) {
	if !s[value] {
		s[value] = true
		*list = append(*list, value)
	}
}

// Tuples writes rows as SQL does after VALUES: (…), (…).
func Tuples[T any](rows [][]T) bun.ListValues {
	values := make([]bun.TupleValues, len(rows))
	for i, row := range rows {
		values[i] = bun.Tuple(row)
	}
	return bun.List(values)
}

// EachOf selects the numbers that a part selects for each of some names, all of which are one parameter. The part is
// given the name as a column.
func EachOf[T ~string](
	db bun.IDB, engine database.Engine, names []T, part func(name any) *bun.SelectQuery,
) *bun.SelectQuery {
	if engine == database.Postgres {
		return db.NewSelect().ColumnExpr("part.number").TableExpr("unnest(ARRAY[?]) AS one (name)", bun.List(names)).
			Join("CROSS JOIN LATERAL (?) AS part", part(bun.Safe("one.name")))
	}
	listed, _ := json.Marshal(names) // it never fails
	return db.NewSelect().ColumnExpr("part.value AS number").TableExpr("json_each(?) AS one", string(listed)).
		Join("CROSS JOIN json_each((SELECT json_group_array(number) FROM (?) AS listed)) AS part",
			part(bun.Safe("one.value")))
}
