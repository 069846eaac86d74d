package projections

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
	"github.com/annals-kb/annals/text"
)

// Rest lets tests ask how long appends go first after bags were moved.
func (p *Knowledge) Rest(took, idle time.Duration) time.Duration { return p.CompactPause(took, idle) }

// TermsOf lets tests compute without an index what the index should say: the terms of an item and
// how often each counts, and its length in words.
func TermsOf(k *domain.Knowledge) (counts map[string]float64, itsWords int) {
	terms, itsWords := words.Tokenize(text.Tokenizers()[0], k)
	counts = make(map[string]float64, len(terms))
	for _, term := range terms {
		counts[term]++
	}
	return counts, itsWords
}

// HashOf and EachTerm read what a bag holds.
func HashOf(term string) uint64 { return words.HashOf(term) }

func EachTerm(bag []byte, each func(hash uint64, count int)) { words.PackedTerms(bag).Each(each) }

// RememberSketches lets go of all sketches in memory, and keeps so many bytes of them from now on.
func RememberSketches(k *Knowledge, bytes int) {
	k.Meaning().Nearest.(*vectors.MemoryNearest).Cache = vectors.NewIndexCache(bytes)
}

// SketchesOf is how many bytes a tenant's sketches take in memory: none if they are not there.
func SketchesOf(k *Knowledge, tenant string) int {
	l := k.Meaning().Nearest.(*vectors.MemoryNearest).Cache.Tenants[tenant]
	if l == nil {
		return 0
	}
	return l.Bytes
}

// ReadAhead reads sketches into memory, as the background does in the beginning.
func ReadAhead(ctx context.Context, k *Knowledge) error {
	return k.Meaning().Nearest.(*vectors.MemoryNearest).Cache.ReadAhead(ctx, k.Meaning())
}

// LoadSketches reads a tenant's sketches, as its first search does.
func LoadSketches(ctx context.Context, k *Knowledge, tenant string) error {
	_, err := k.Meaning().Nearest.(*vectors.MemoryNearest).Sketches(ctx, tenant)
	return err
}

// ClosestOnShelf puts sketches in an index, and gives the places of at least most that differ least from another.
func ClosestOnShelf(sketches [][]uint64, sketch []uint64, most int) []int {
	s := vectors.NewSketchIndex(len(sketch))
	for i, other := range sketches {
		s.Add(int64(i), vectors.Hash{}, other)
	}
	return s.Closest(sketch, most, nil)
}

// HoldVectors reads the vectors that searches have missed, as the background does.
func HoldVectors(ctx context.Context, k *Knowledge) error {
	if n, ok := k.Meaning().Nearest.(*vectors.PostgresNearest); ok {
		return n.HoldVectors(ctx)
	}
	return nil
}

// VectorsOf is how many of a tenant's vectors are in memory.
func VectorsOf(k *Knowledge, tenant string) int {
	var shelves *vectors.IndexCache
	switch n := k.Meaning().Nearest.(type) {
	case *vectors.PostgresNearest:
		shelves = n.Cache
	case *vectors.MemoryNearest:
		shelves = n.Cache
	}
	shelves.Vectors.Mu.RLock()
	defer shelves.Vectors.Mu.RUnlock()
	return len(shelves.Vectors.Vectors[tenant])
}

// Gather lets directories be read from what a member sees if that is no more than so much, and so much lies below
// them, and so many bytes of contents at once.
func Gather(k *Knowledge, below, seen int64, bytes int) {
	k.Gathered = browse.Gathering{Below: below, Seen: seen, Bytes: bytes}
}
