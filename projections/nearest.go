package projections

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// nearest finds the items whose vectors lie nearest to a question's. Each engine has its own.
type nearest interface {
	// search gives the cosine of each item's nearest piece, for the best of each scope and for
	// every item that was asked about by number.
	search(ctx context.Context, ask question) (map[int64]float64, []domain.ScopePlan, error)
	// learn takes note of pieces that were just committed.
	learn(e *embedded)
}

// question is what a search by meaning looks for.
type question struct {
	from     *Knowledge // at the request's version
	search   domain.Search
	audience domain.Audience
	sizes    map[domain.Scope]profile // by scope; for everything, under the empty scope
	vector   []float32
	known    []int64 // items found by words, which need a cosine as well
}

// How a scope's vectors are searched: by comparing all of them, by comparing the best of a scan
// over sketches, or by walking a graph. Measured in docs/performance.md.
const (
	planExact  = "exact"
	planSketch = "sketch"
	planHNSW   = "hnsw"
)

// rescored is how many of the best sketches have their vectors compared.
const rescored = 200

// scoped is a scope with what it holds.
type scoped struct {
	scope domain.Scope
	items int64
}

// bySize lists the scopes of a question that hold anything, the smallest first.
func (q question) bySize() []scoped {
	var list []scoped
	for scope, size := range q.sizes {
		if size.items > 0 {
			list = append(list, scoped{scope, size.items})
		}
	}
	slices.SortFunc(list, func(a, b scoped) int {
		return cmp.Or(cmp.Compare(a.items, b.items), cmp.Compare(a.scope, b.scope))
	})
	return list
}
