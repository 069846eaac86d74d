package projections

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// Rest lets tests ask how long appends go first after bags were moved.
func (p *Knowledge) Rest(took, idle time.Duration) time.Duration { return p.compactPause(took, idle) }

// TermsOf lets tests compute without an index what the index should say: the terms of an item and
// how often each counts, and its length in words.
func TermsOf(k *domain.Knowledge) (counts map[string]float64, words int) {
	b := documentTermsOf(text.Tokenizers()[0], k)
	counts = make(map[string]float64, len(b.Terms))
	for i, term := range b.Terms {
		counts[term] = float64(b.Counts[i])
	}
	return counts, b.Words
}

// HashOf and EachTerm read what a bag holds.
func HashOf(term string) uint64 { return hashOf(term) }

func EachTerm(bag []byte, each func(hash uint64, count int)) { packedTerms(bag).each(each) }

// RememberSketches lets go of all sketches in memory, and keeps so many bytes of them from now on.
func RememberSketches(k *Knowledge, bytes int) {
	k.meaning.nearest.(*memoryNearest).cache = newIndexCache(bytes)
}

// SketchesOf is how many bytes a tenant's sketches take in memory: none if they are not there.
func SketchesOf(k *Knowledge, tenant string) int {
	l := k.meaning.nearest.(*memoryNearest).cache.tenants[tenant]
	if l == nil {
		return 0
	}
	return l.bytes
}

// ReadAhead reads sketches into memory, as the background does in the beginning.
func ReadAhead(ctx context.Context, k *Knowledge) error {
	return k.meaning.nearest.(*memoryNearest).cache.readAhead(ctx, k.meaning)
}

// LoadSketches reads a tenant's sketches, as its first search does.
func LoadSketches(ctx context.Context, k *Knowledge, tenant string) error {
	_, err := k.meaning.nearest.(*memoryNearest).sketches(ctx, tenant)
	return err
}

// ClosestOnShelf puts sketches in an index, and gives the places of at least most that differ least from another.
func ClosestOnShelf(sketches [][]uint64, sketch []uint64, most int) []int {
	s := newSketchIndex(len(sketch))
	for i, other := range sketches {
		s.add(int64(i), hash{}, other)
	}
	return s.closest(sketch, most, nil)
}

// HoldVectors reads the vectors that searches have missed, as the background does.
func HoldVectors(ctx context.Context, k *Knowledge) error {
	if n, ok := k.meaning.nearest.(*postgresNearest); ok {
		return n.holdVectors(ctx)
	}
	return nil
}

// VectorsOf is how many of a tenant's vectors are in memory.
func VectorsOf(k *Knowledge, tenant string) int {
	var shelves *indexCache
	switch n := k.meaning.nearest.(type) {
	case *postgresNearest:
		shelves = n.cache
	case *memoryNearest:
		shelves = n.cache
	}
	shelves.vectors.mu.RLock()
	defer shelves.vectors.mu.RUnlock()
	return len(shelves.vectors.vectors[tenant])
}

// Gather lets directories be read from what a member sees if that is no more than so much, and so much lies below them, and so many
// bytes of contents at once.
func Gather(k *Knowledge, below, seen int64, bytes int) { k.gathered = gathering{below, seen, bytes} }
