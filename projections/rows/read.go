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

// ReadEach is a query that passes every row to each. It runs in the transaction of ctx.
func ReadEach[T any](ctx context.Context, db *database.DB, query string, each func(*T), values ...any) database.Query {
	return database.Query{SQL: query, Values: values, Each: func(rows *sql.Rows) error {
		var found T
		err := scan(ctx, db.DB, rows, &found)
		if r, isItem := any(&found).(*Row); err != nil && isItem && ctx.Err() == nil {
			return r.unreadable()
		}
		if err != nil {
			return err
		}
		each(&found)
		return nil
	}}
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
