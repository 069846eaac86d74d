package vectors

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// nearest finds the items whose vectors lie nearest to a question's. Each engine has its own.
type nearest interface {
	// Closest gives the pieces of each scope whose sketches differ least from the question's.
	Closest(ctx context.Context, q Question) (Shortlist, error)
	// PiecesOf gives the pieces of items, wherever they lie.
	PiecesOf(ctx context.Context, q Question, s Shortlist, numbers []int64) ([]NearPiece, error)
	// Cosines compares the vectors of pieces with the question's, by the hash of their text. Those that were
	// erased since have none.
	Cosines(ctx context.Context, q Question, s Shortlist, pieces []NearPiece) (map[Hash]float64, error)
	// update takes note of pieces that were just committed.
	update(e *embedded)
}

// Shortlist is what sketches say: the pieces whose vectors are worth comparing.
type Shortlist struct {
	Pieces [][]NearPiece      // as the question has its scopes
	Plans  []domain.ScopePlan // of each scope, without its size
	index  *VectorIndex       // where the pieces of other items are known; nil if that is not in memory
}

// Question is what a search by meaning looks for.
type Question struct {
	from        catalogue.View // at the request's version
	search      domain.Search
	vector      []float32
	sketch      []uint64
	sketchQuery embedding.SketchQuery

	// Scopes are what to look in; an empty one is the whole tenant.
	Scopes []domain.Scope
	// rest is what the search's filter still asks for in these scopes.
	rest domain.Filter
}

// How a scope's vectors are searched: all of them, or those of the best of a scan over its sketches (which are all, if
// it is small). Measured in docs/performance.md.
const (
	PlanExact  = "exact"
	PlanSketch = "sketch"
)

// Depths is how far a search by meaning goes in a scope: in memory, so many sketches that differ least are
// judged by the question's numbers, and of so many the vectors are compared; in the database, of so many
// that were scanned; and so many pieces with the nearest vectors are ranked.
type Depths struct{ sketches, Compared, scanned, Vectors int }

// Depths grow with how many hits are asked for. The ranking needs more than ten, because it weighs by
// confidence. In a whole tenant the nearest scopes come first, wherever their items are among all. Sketches
// of few bits lose more.
func (q Question) Depths(place domain.Scope) Depths {
	const manyBits = 1024
	vectors := max(50, 2*q.search.Limit)
	scanned := 2 * vectors
	if place == "" {
		vectors = max(120, 4*q.search.Limit)
		scanned = vectors * 5 / 4
	}
	if 64*len(q.sketch) < manyBits {
		return Depths{sketches: 6 * vectors, Compared: 4 * vectors, scanned: 4 * vectors, Vectors: vectors}
	}
	return Depths{sketches: 2*vectors + 50, Compared: vectors * 6 / 5, scanned: scanned, Vectors: vectors}
}

// NewQuestion is what a search asks in as much of the knowledge as an audience may see.
func NewQuestion(from catalogue.View, s domain.Search, audience domain.Audience, vector []float32) Question {
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	return Question{
		from: from, search: s, vector: vector, sketch: embedding.Sketch(vector),
		sketchQuery: embedding.NewSketchQuery(vector), Scopes: rows.ScopesToSearch(audience), rest: s.Filter,
	}
}

// Nearest keeps as many pieces of each scope as are ranked, the nearest ones.
func (q Question) Nearest(places [][]NearPiece, cosines map[Hash]float64) [][]NearPiece {
	type compared struct {
		NearPiece
		cosine float64
	}
	kept := make([][]NearPiece, len(places))
	for i, place := range places {
		list := make([]compared, len(place))
		for j, c := range place {
			list[j] = compared{c, cosines[c.Hash]}
		}
		slices.SortFunc(list, func(a, b compared) int { return cmp.Compare(b.cosine, a.cosine) })
		for _, c := range list[:min(len(list), q.Depths(q.Scopes[i]).Vectors)] {
			kept[i] = append(kept[i], c.NearPiece)
		}
	}
	return kept
}
