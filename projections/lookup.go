package projections

import (
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// lookupTable is where rows are looked up.
type lookupTable struct {
	engine    database.Engine
	tenant    string
	table     bun.Ident
	alias     string
	condition string // which rows count, as a partial index may want it; empty for all
}

// lookUp lets a query select rows by keys: the values of some columns. Each key is looked up by itself
// in the index of those columns: left alone, either engine may rather compare everything that the
// tenant has with every key.
func lookUp[T any](query *bun.SelectQuery, in lookupTable, keys [][]T, columns ...string) *bun.SelectQuery {
	wanted, equal := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		wanted[i] = fmt.Sprintf("column%d AS %s", i+1, column)
		equal[i] = fmt.Sprintf("%[1]s.%[2]s = wanted.%[2]s", in.alias, column)
	}
	where := strings.Join(equal, " AND ")
	if in.condition != "" {
		where += " AND " + in.condition
	}
	from := "(SELECT " + strings.Join(wanted, ", ") + " FROM (VALUES ?) AS listed) AS wanted CROSS JOIN "
	if in.engine == database.SQLite { // which never changes the order of a CROSS JOIN
		return query.ModelTableExpr(from+"? AS ?", tuples(keys), in.table, bun.Ident(in.alias)).
			Where("?.tenant = ?", bun.Ident(in.alias), in.tenant).Where(where)
	}
	return query.ModelTableExpr(from+"LATERAL (SELECT * FROM ? AS ? WHERE tenant = ? AND "+where+" OFFSET 0) AS ?",
		tuples(keys), in.table, bun.Ident(in.alias), in.tenant, bun.Ident(in.alias))
}

// singleKeys makes a key of every value.
func singleKeys[T any](values []T) [][]T {
	keys := make([][]T, len(values))
	for i, value := range values {
		keys[i] = []T{value}
	}
	return keys
}
