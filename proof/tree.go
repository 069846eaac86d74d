package proof

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
)

// tree is a tenant's stored tree, as the pool or a transaction sees it.
type tree struct {
	db     database.Querier
	tenant string
}

// size is how many events are in the tree.
func (t tree) size(ctx context.Context) (size int64, err error) {
	err = database.ForEach(ctx, t.db, func(rows *sql.Rows) error { return rows.Scan(&size) }, `
		SELECT size
		FROM tree
		WHERE tenant = ?
		ORDER BY number DESC
		LIMIT 1`, t.tenant)
	return size, err
}

// hashes reads stored hashes by their numbers, in one query.
func (t tree) hashes(ctx context.Context, numbers []int64) ([]tlog.Hash, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	var query strings.Builder
	var args []any
	for i, number := range numbers {
		if i > 0 {
			query.WriteString(" UNION ALL ")
		}
		query.WriteString(`SELECT * FROM (
			SELECT ` + fmt.Sprint(i) + ` AS place, number, substr(hashes, CAST(32 * (? - number) + 1 AS integer), 32) AS hash
			FROM tree
			WHERE tenant = ? AND number <= ?
			ORDER BY number DESC
			LIMIT 1) AS t` + fmt.Sprint(i))
		args = append(args, number, t.tenant, number)
	}
	hashes := make([]tlog.Hash, len(numbers))
	found := 0
	err := database.ForEach(ctx, t.db, func(rows *sql.Rows) error {
		var place int
		var number int64
		var hash []byte
		if err := rows.Scan(&place, &number, &hash); err != nil {
			return err
		}
		if len(hash) != tlog.HashSize {
			return errTorn
		}
		hashes[place] = tlog.Hash(hash)
		found++
		return nil
	}, query.String(), args...)
	if err == nil && found != len(numbers) {
		err = errTorn
	}
	return hashes, err
}

// reader lets tlog read the stored hashes.
func (t tree) reader(ctx context.Context) tlog.HashReader {
	return tlog.HashReaderFunc(func(numbers []int64) ([]tlog.Hash, error) { return t.hashes(ctx, numbers) })
}

// frontier is that of the tree's first events.
func (t tree) frontier(ctx context.Context, size int64) (frontier, error) {
	roots, err := t.hashes(ctx, indexesOf(size))
	return frontier{size: size, roots: roots}, err
}
