package vectors

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// Shortlist has the pieces whose vectors are worth comparing, according to their sketches.
type Shortlist struct {
	Pieces [][]NearPiece      // by scope, in the order of the question's scopes
	Plans  []domain.ScopePlan // by scope, without its size
	index  *VectorIndex       // has the pieces of other items
}

// Closest returns the pieces of each scope whose sketches differ least from the question's.
func (m *Projection) Closest(ctx context.Context, q Question) (Shortlist, error) {
	l, err := m.Cache.load(ctx, m, q.search.By.Tenant)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "read sketches", err)
	}
	wanted, err := q.wanted(ctx)
	if err != nil {
		return Shortlist{}, err
	}
	s := Shortlist{Pieces: l.closest(q, wanted), Plans: make([]domain.ScopePlan, len(q.Scopes)), index: l}
	for i, scope := range q.Scopes {
		s.Plans[i] = domain.ScopePlan{Scope: scope, Plan: PlanSketch}
	}
	return s, nil
}

// PiecesOf returns the pieces of items in any scope.
func (s Shortlist) PiecesOf(numbers []int64) (pieces []NearPiece) {
	l := s.index
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, number := range numbers {
		for _, place := range l.sketches.places(number) {
			pieces = append(pieces, l.sketches.piece(place))
		}
	}
	return pieces
}

// Question is what a search by meaning looks for.
type Question struct {
	from        catalogue.View // at the request's version
	search      domain.Search
	vector      []float32
	sketch      []uint64
	sketchQuery embedding.SketchQuery

	// Scopes are the scopes to search; an empty one is the whole tenant.
	Scopes []domain.Scope
	// rest is the part of the search's filter that Scopes leave to check.
	rest domain.Filter
	// Exact means that only items that pass all of the filter are considered, otherwise those that pass as far as sets
	// can tell, or all if the filter excludes only few.
	Exact bool
}

// wanted are the numbers of the items to consider; nil for all.
func (q Question) wanted(ctx context.Context) (*roaring.Bitmap, error) {
	if rows.IsPlain(q.rest) && !q.Exact {
		return nil, nil
	}
	index, tenant := words.Index{View: q.from}, q.search.By.Tenant
	groups := index.GroupsOf(q.rest)
	chosen, err := index.Choose(ctx, tenant, groups, words.SetsOfGroups)
	if err == nil && q.Exact {
		err = index.KeepPassing(ctx, tenant, q.rest, chosen)
	}
	return chosen.Bitmap, err
}

// How a scope's vectors are searched: all of them, or the best of a scan over its sketches, which are all in a small
// scope. Measured in docs/performance.md.
const (
	PlanExact  = "exact"
	PlanSketch = "sketch"
)

// Depths are how many pieces of a scope each step of a search by meaning keeps. The sketches pieces with the nearest
// sketches go to the sketch query, and of these Compared vectors are compared. The Vectors pieces with the nearest
// vectors are ranked.
type Depths struct{ sketches, Compared, Vectors int }

// Depths grow with the limit of hits. The ranking needs more than that, because it also weighs confidence. A whole
// tenant needs more, because items of near scopes rank first, wherever they are among all. Short sketches are less
// exact.
func (q Question) Depths(place domain.Scope) Depths {
	const manyBits = 1024
	vectors := max(50, 2*q.search.Limit)
	if place == "" {
		vectors = max(120, 4*q.search.Limit)
	}
	if 64*len(q.sketch) < manyBits {
		return Depths{sketches: 6 * vectors, Compared: 4 * vectors, Vectors: vectors}
	}
	return Depths{sketches: 2*vectors + 50, Compared: vectors * 6 / 5, Vectors: vectors}
}

// depthsSize is the size of a scope, in pieces, for which the depths of a scope are enough.
const depthsSize = 10_000

// depthsIn are the depths for a scope, or a part of it, of so many pieces. The more pieces there are, the more of them
// are as near as the wanted ones, within the error of a sketch.
//
// Measured with the built-in embedder in one scope, recall@10 is 0.984 for 10,000 pieces. For a million it is 0.942
// with the same depths, and 0.988 with these (docs/performance.md).
func (q Question) depthsIn(place domain.Scope, pieces int) Depths {
	d, scope := q.Depths(place), q.Depths(domain.Public)
	growth := max(1, float64(pieces)/depthsSize)
	d.sketches = max(d.sketches, int(float64(scope.sketches)*math.Sqrt(growth)))
	d.Compared = max(d.Compared, int(float64(scope.Compared)*math.Cbrt(growth)))
	return d
}

// NewQuestion makes the question of a search, in the scopes that an audience may see.
func NewQuestion(from catalogue.View, s domain.Search, audience domain.Audience, vector []float32) Question {
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	return Question{
		from: from, search: s, vector: vector, sketch: embedding.Sketch(vector),
		sketchQuery: embedding.NewSketchQuery(vector), Scopes: rows.ScopesToSearch(audience), rest: s.Filter,
	}
}

// Nearest keeps the pieces of each scope that are ranked, the nearest ones.
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
