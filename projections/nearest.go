package projections

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// nearest finds the items whose vectors lie nearest to a question's. Each engine has its own.
type nearest interface {
	// search gives the nearest items of each place.
	search(ctx context.Context, q question) (nearby, error)
	// compare gives the items with these numbers that pass the filter, wherever they lie.
	compare(ctx context.Context, q question, numbers []int64) ([]near, error)
	// learn takes note of pieces that were just committed.
	learn(e *embedded)
}

// question is what a search by meaning looks for.
type question struct {
	from   *Knowledge // at the request's version
	search domain.Search
	vector []float32
	sketch []uint64

	// places are the scopes to look in; an empty one is the whole tenant.
	places []domain.Scope
	// rest is what the search's filter still asks for in these places.
	rest domain.Filter
}

// near is an item that a search considers, with the cosine of its nearest piece.
type near struct {
	slim
	cosine   float64
	compared bool // false while it has no vector
}

// nearby is what a search by meaning found.
type nearby struct {
	items []near
	plans []domain.ScopePlan // of each place, without its size
	// crowded: of some place so many did not pass that others may not have been found.
	crowded bool
}

// How a place's vectors are searched: by comparing those of the best of a scan over its sketches (which
// are all, if it is small), or of a walk along its graph. Measured in docs/performance.md.
const (
	planExact  = "exact"
	planSketch = "sketch"
	planHNSW   = "hnsw"
)

// depths is how far a search by meaning goes in a place: of so many sketches that differ least the
// vectors are compared, and so many pieces with the nearest vectors are ranked.
type depths struct{ sketches, vectors int }

// depths grow with how many hits are asked for. Of ten hits in a scope, a hundred sketches lose less
// than one in a hundred, unless they are of few bits; the ranking needs more than ten, because it weighs
// by confidence. In a whole tenant the nearest scopes come first, wherever their items are among all.
func (q question) depths(place domain.Scope) depths {
	if place == "" {
		vectors := max(200, 4*q.search.Limit)
		return depths{sketches: vectors * 5 / 4, vectors: vectors}
	}
	const manyBits = 1024
	vectors := max(50, 2*q.search.Limit)
	if 64*len(q.sketch) < manyBits {
		return depths{sketches: 4 * vectors, vectors: vectors}
	}
	return depths{sketches: 2 * vectors, vectors: vectors}
}

func newQuestion(from *Knowledge, s domain.Search, audience domain.Audience, vector []float32) question {
	q := question{from: from, search: s, vector: vector, sketch: embedding.Sketch(vector), places: placesOf(audience), rest: s.Filter}
	// Where the filter names one of the places, the others hold nothing that passes and is not there.
	if scope := s.Filter.Scope; scope != "" && (audience.Everything || slices.Contains(q.places, scope)) {
		q.places, q.rest.Scope = []domain.Scope{scope}, ""
	}
	return q
}

// placesOf are the scopes of an audience; everything in the tenant is one empty scope.
func placesOf(audience domain.Audience) []domain.Scope {
	if audience.Everything {
		return []domain.Scope{""}
	}
	return audience.Scopes
}

// reading is a piece that one place gave.
type reading struct {
	near
	place  int  // its index among the question's places
	passed bool // what the search's filter asks of the item
}

// gather makes one of an item's pieces, wherever they lie. A place that gave all it may, half of which
// did not pass, is crowded.
func (q question) gather(readings []reading, plans []domain.ScopePlan) nearby {
	result := nearby{plans: plans}
	at := make(map[int64]int, len(readings))
	pieces, missed := make([]int, len(q.places)), make([]int, len(q.places))
	for _, r := range readings {
		pieces[r.place]++
		if !r.passed {
			missed[r.place]++
			continue
		}
		if i, seen := at[r.number]; seen {
			if r.compared && (!result.items[i].compared || r.cosine > result.items[i].cosine) {
				result.items[i] = r.near
			}
			continue
		}
		at[r.number] = len(result.items)
		result.items = append(result.items, r.near)
	}
	for place := range pieces {
		if pieces[place] >= q.depths(q.places[place]).vectors && 2*missed[place] >= pieces[place] {
			result.crowded = true
		}
	}
	return result
}
