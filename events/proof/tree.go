package proof

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
)

// tree is a tenant's stored tree, read by the pool or a transaction.
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

// reader reads the stored hashes for tlog.
func (t tree) reader(ctx context.Context) tlog.HashReader {
	return tlog.HashReaderFunc(func(numbers []int64) ([]tlog.Hash, error) { return t.hashes(ctx, numbers) })
}

// frontier is the frontier of the tree's first size events.
func (t tree) frontier(ctx context.Context, size int64) (frontier, error) {
	roots, err := t.hashes(ctx, indexesOf(size))
	return frontier{size: size, roots: roots}, err
}

// frontier is the part of a tree that is needed to extend it: the roots of its complete subtrees, the largest first.
// There is one for every 1 in the binary number of its leaves.
type frontier struct {
	size  int64
	roots []tlog.Hash
}

// indexesOf are the indexes of a frontier's roots among the stored hashes of a tree.
func indexesOf(size int64) []int64 {
	var indexes []int64
	for before := int64(0); before < size; {
		level := bits.Len64(uint64(size-before)) - 1
		indexes = append(indexes, tlog.StoredHashIndex(level, before>>level))
		before += 1 << level
	}
	return indexes
}

// add adds a leaf, given by its hash. It appends the new hashes to stored, in the order in which tlog stores them.
func (f *frontier) add(leaf tlog.Hash, stored []tlog.Hash) []tlog.Hash {
	stored = append(stored, leaf)
	for range bits.TrailingZeros64(uint64(f.size) + 1) {
		last := len(f.roots) - 1
		leaf = tlog.NodeHash(f.roots[last], leaf)
		stored, f.roots = append(stored, leaf), f.roots[:last]
	}
	f.roots = append(f.roots, leaf)
	f.size++
	return stored
}

// root is the root of the whole tree.
func (f *frontier) root() tlog.Hash {
	if len(f.roots) == 0 {
		root, _ := tlog.TreeHash(0, nil) // of the empty tree nothing is read
		return root
	}
	root := f.roots[len(f.roots)-1]
	for i := len(f.roots) - 2; i >= 0; i-- {
		root = tlog.NodeHash(f.roots[i], root)
	}
	return root
}

// signedName is the name under which the table of checkpoints stores the signed size.
const signedName = Name + "_signed"

// extent is the size of a tenant's tree and of its newest signed checkpoint, each as stored and as the table of
// checkpoints has it.
type extent struct {
	tree, grown    int64 // events in the tree, and events that were added to it
	newest, signed int64 // size of the newest stored checkpoint, and of the newest that was signed
}

// extent reads all four in one query.
func (t tree) extent(ctx context.Context) (x extent, err error) {
	read := func(rows *sql.Rows) error { return rows.Scan(&x.tree, &x.grown, &x.newest, &x.signed) }
	err = database.ForEach(ctx, t.db, read, `
		SELECT
			coalesce((SELECT size FROM tree WHERE tenant = ? ORDER BY number DESC LIMIT 1), 0),
			coalesce((SELECT position FROM checkpoints WHERE projection = ? AND tenant = ?), 0),
			coalesce((SELECT max(size) FROM signed_checkpoints WHERE tenant = ?), 0),
			coalesce((SELECT position FROM checkpoints WHERE projection = ? AND tenant = ?), 0)`,
		t.tenant, Name, t.tenant, t.tenant, signedName, t.tenant)
	return x, err
}

// lost are the parts that existed and are missing.
func (x extent) lost() (faults []Fault) {
	if x.tree < x.grown {
		faults = append(faults, Fault{
			Position: x.tree + 1, Kind: Tree,
			Message: fmt.Sprintf("the stored tree was cut: it had %d events, and ends at position %d", x.grown, x.tree),
		})
	}
	if x.newest < x.signed {
		faults = append(faults, Fault{
			Position: x.newest + 1, Kind: Checkpoint,
			Message: fmt.Sprintf("signed checkpoints are missing: %d events were signed, and those that are there cover %d",
				x.signed, x.newest),
		})
	}
	return faults
}

// whole refuses to rebuild or sign again what was lost: the log may have been rewritten meanwhile.
func (x extent) whole() error {
	for _, fault := range x.lost() {
		return halt(fault.Message)
	}
	return nil
}
