package projections

import (
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// tuples writes rows as SQL does after VALUES: (…), (…).
func tuples[T any](rows [][]T) bun.ListValues {
	values := make([]bun.TupleValues, len(rows))
	for i, row := range rows {
		values[i] = bun.Tuple(row)
	}
	return bun.List(values)
}

// pairsOf selects pairs from a list. SQLite looks each of them up by a key of both, as it does not for (…, …) IN (VALUES …).
func pairsOf(pairs [][]string) schema.QueryWithArgs {
	return bun.SafeQuery("SELECT column1, column2 FROM (VALUES ?) AS listed", tuples(pairs))
}
