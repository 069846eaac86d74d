package projections

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// nearest finds the items whose vectors lie nearest to a question's. Each engine has its own.
type nearest interface {
	// closest gives the pieces of each place whose sketches differ least from the question's.
	closest(ctx context.Context, q question) (shortlist, error)
	// piecesOf gives the pieces of items, wherever they lie.
	piecesOf(ctx context.Context, q question, s shortlist, numbers []int64) ([]nearPiece, error)
	// cosines compares the vectors of pieces with the question's, by the hash of their text. Those that were
	// erased since have none.
	cosines(ctx context.Context, q question, s shortlist, pieces []nearPiece) (map[hash]float64, error)
	// learn takes note of pieces that were just committed.
	update(e *embedded)
}

// shortlist is what sketches say: the pieces whose vectors are worth comparing.
type shortlist struct {
	pieces [][]nearPiece      // as the question has its places
	plans  []domain.ScopePlan // of each place, without its size
	index  *vectorIndex       // where the pieces of other items are known; nil if that is not in memory
}

// question is what a search by meaning looks for.
type question struct {
	from        *Knowledge // at the request's version
	search      domain.Search
	vector      []float32
	sketch      []uint64
	sketchQuery embedding.SketchQuery

	// places are the scopes to look in; an empty one is the whole tenant.
	scopes []domain.Scope
	// rest is what the search's filter still asks for in these places.
	rest domain.Filter
}

// How a place's vectors are searched: by comparing those of the best of a scan over its sketches (which
// are all, if it is small), or of a walk along its graph. Measured in docs/performance.md.
const (
	planExact  = "exact"
	planSketch = "sketch"
	planHNSW   = "hnsw"
)

// depths is how far a search by meaning goes in a place: in memory, so many sketches that differ least are
// judged by the question's numbers, and of so many the vectors are compared; in the database, of so many
// that were scanned; and so many pieces with the nearest vectors are ranked.
type depths struct{ sketches, compared, scanned, vectors int }

// depths grow with how many hits are asked for. The ranking needs more than ten, because it weighs by
// confidence. In a whole tenant the nearest scopes come first, wherever their items are among all. Sketches
// of few bits lose more.
func (q question) depths(place domain.Scope) depths {
	const manyBits = 1024
	vectors := max(50, 2*q.search.Limit)
	scanned := 2 * vectors
	if place == "" {
		vectors = max(120, 4*q.search.Limit)
		scanned = vectors * 5 / 4
	}
	if 64*len(q.sketch) < manyBits {
		return depths{sketches: 6 * vectors, compared: 4 * vectors, scanned: 4 * vectors, vectors: vectors}
	}
	return depths{sketches: 2*vectors + 50, compared: vectors * 6 / 5, scanned: scanned, vectors: vectors}
}

func newQuestion(from *Knowledge, s domain.Search, audience domain.Audience, vector []float32) question {
	audience, s.Filter = narrowed(s.Filter, audience)
	return question{
		from: from, search: s, vector: vector, sketch: embedding.Sketch(vector), sketchQuery: embedding.NewSketchQuery(vector), scopes: scopesToSearch(audience), rest: s.Filter,
	}
}

// narrowed is the audience whose items may pass a filter, and what the filter still asks for among them. Where it names a scope that
// the audience may see, that is one scope: the others hold nothing that passes and is not there.
func narrowed(f domain.Filter, audience domain.Audience) (domain.Audience, domain.Filter) {
	scope := f.Scope
	if scope == "" || !audience.Everything && !slices.Contains(audience.Scopes, scope) {
		return audience, f
	}
	f.Scope = ""
	return domain.Audience{Scopes: []domain.Scope{scope}}, f
}

// scopesToSearch are the scopes of an audience; everything in the tenant is one empty scope.
func scopesToSearch(audience domain.Audience) []domain.Scope {
	if audience.Everything {
		return []domain.Scope{""}
	}
	return audience.Scopes
}
