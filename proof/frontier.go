package proof

import (
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// frontier is what has to be known of a tree to let it grow: the roots of its complete subtrees, the
// largest first. One of them for every 1 in the binary number of its leaves.
type frontier struct {
	size  int64
	roots []tlog.Hash
}

// indexesOf are the places of a frontier's roots among the stored hashes of a tree.
func indexesOf(size int64) []int64 {
	var indexes []int64
	for before := int64(0); before < size; {
		level := bits.Len64(uint64(size-before)) - 1
		indexes = append(indexes, tlog.StoredHashIndex(level, before>>level))
		before += 1 << level
	}
	return indexes
}

// add appends a leaf, given by its hash, and appends to stored the hashes that came into being, in the
// order in which tlog stores them.
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

// root is that of the whole tree.
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
