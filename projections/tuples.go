package projections

import "github.com/uptrace/bun"

// tuples writes rows as SQL does after VALUES: (…), (…).
func tuples[T any](rows [][]T) bun.ListValues {
	values := make([]bun.TupleValues, len(rows))
	for i, row := range rows {
		values[i] = bun.Tuple(row)
	}
	return bun.List(values)
}
