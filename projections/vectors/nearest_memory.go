package vectors

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// MemoryNearest is for SQLite's single process: it keeps the sketches and some vectors in memory. It reads a tenant's
// sketches at the start, within the budget, or when the tenant is searched.
type MemoryNearest struct {
	meaning *Projection
	Cache   *IndexCache
}

// update replaces the pieces of items in memory.
func (n *MemoryNearest) update(e *embedded) { n.Cache.update(e) }

func (n *MemoryNearest) Closest(ctx context.Context, q Question) (Shortlist, error) {
	l, err := n.Sketches(ctx, q.search.By.Tenant)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "read sketches", err)
	}
	return q.among(ctx, l)
}

// Sketches returns a tenant's index. It goes on reading after the caller has left: otherwise a large tenant might
// never be read if every caller leaves too early.
func (n *MemoryNearest) Sketches(ctx context.Context, tenant string) (*VectorIndex, error) {
	return n.Cache.load(context.WithoutCancel(ctx), n.meaning, tenant)
}

// among finds the closest pieces in memory.
func (q Question) among(ctx context.Context, l *VectorIndex) (Shortlist, error) {
	wanted, err := q.wanted(ctx, l)
	if err != nil {
		return Shortlist{}, err
	}
	s := Shortlist{Pieces: make([][]NearPiece, len(q.Scopes)), Plans: make([]domain.ScopePlan, len(q.Scopes)), index: l}
	for i, scope := range q.Scopes {
		s.Pieces[i] = l.closest(scope, q, wanted)
		s.Plans[i] = domain.ScopePlan{Scope: scope, Plan: PlanSketch}
	}
	return s, nil
}

func (n *MemoryNearest) PiecesOf(_ context.Context, _ Question, s Shortlist, numbers []int64) ([]NearPiece, error) {
	return s.index.piecesOf(numbers), nil
}

// Cosines compares vectors, after reading those that are not in memory.
func (n *MemoryNearest) Cosines(
	ctx context.Context, q Question, _ Shortlist, pieces []NearPiece,
) (map[Hash]float64, error) {
	cosines := make(map[Hash]float64, len(pieces))
	missing := n.Cache.Vectors.compare(q, pieces, cosines)
	if len(missing) == 0 {
		return cosines, nil
	}
	stored, err := n.meaning.stored(ctx, q.search.By.Tenant, missing)
	if err != nil {
		return nil, err
	}
	n.Cache.Vectors.keep(q.search.By.Tenant, stored)
	q.compare(stored, cosines)
	return cosines, nil
}
