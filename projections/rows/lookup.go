package rows

import (
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
)

// Table is where rows are looked up.
type Table struct {
	Engine    database.Engine
	Tenant    string
	Table     bun.Ident
	Alias     string
	Condition string // which rows count, as a partial index may want it; empty for all
}

// LookUp lets a query select rows by keys: the values of some columns. Each key is looked up by itself
// in the index of those columns: left alone, either engine may rather compare everything that the
// tenant has with every key.
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

// PairsOf selects pairs from a list. SQLite looks each of them up by a key of both, as it does not for (…, …) IN
// (VALUES …).
func PairsOf(pairs [][]string) schema.QueryWithArgs {
	return bun.SafeQuery("SELECT column1, column2 FROM (VALUES ?) AS listed", Tuples(pairs))
}
