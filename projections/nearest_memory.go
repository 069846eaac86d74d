package projections

import (
	"context"

	"github.com/annals-kb/annals/domain"
)

// memoryNearest keeps the sketches of SQLite's one process in memory and compares the vectors of
// the best, of which it keeps some. A tenant's sketches are read when the program starts, while
// there is room, and when it is searched and they are not there.
type memoryNearest struct {
	meaning *Meaning
	cache   *indexCache
}

// update replaces the pieces of items in memory.
func (n *memoryNearest) update(e *embedded) { n.cache.update(e) }

func (n *memoryNearest) closest(ctx context.Context, q question) (shortlist, error) {
	l, err := n.sketches(ctx, q.search.By.Tenant)
	if err != nil {
		return shortlist{}, n.meaning.knowledge.failed(ctx, "read sketches", err)
	}
	return q.among(ctx, l)
}

// sketches are those of a tenant. Reading them goes on if whoever asked no longer waits: where there are many, nobody might ever wait
// long enough.
func (n *memoryNearest) sketches(ctx context.Context, tenant string) (*vectorIndex, error) {
	return n.cache.load(context.WithoutCancel(ctx), n.meaning, tenant)
}

// among looks for the closest pieces in memory.
func (q question) among(ctx context.Context, l *vectorIndex) (shortlist, error) {
	wanted, err := q.wanted(ctx, l)
	if err != nil {
		return shortlist{}, err
	}
	s := shortlist{pieces: make([][]nearPiece, len(q.scopes)), plans: make([]domain.ScopePlan, len(q.scopes)), index: l}
	for i, scope := range q.scopes {
		s.pieces[i] = l.closest(scope, q, wanted)
		s.plans[i] = domain.ScopePlan{Scope: scope, Plan: planSketch}
	}
	return s, nil
}

func (n *memoryNearest) piecesOf(_ context.Context, _ question, s shortlist, numbers []int64) ([]nearPiece, error) {
	return s.index.piecesOf(numbers), nil
}

// cosines compares vectors, after reading those that are not in memory.
func (n *memoryNearest) cosines(ctx context.Context, q question, _ shortlist, pieces []nearPiece) (map[hash]float64, error) {
	cosines := make(map[hash]float64, len(pieces))
	missing := n.cache.vectors.compare(q, pieces, cosines)
	if len(missing) == 0 {
		return cosines, nil
	}
	stored, err := n.meaning.stored(ctx, q.search.By.Tenant, missing)
	if err != nil {
		return nil, err
	}
	n.cache.vectors.keep(q.search.By.Tenant, stored)
	q.compare(stored, cosines)
	return cosines, nil
}
