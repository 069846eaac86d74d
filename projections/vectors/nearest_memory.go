package vectors

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// memoryNearest is for SQLite's single process. It reads a tenant's sketches at the first search, and learns later
// changes at their commit.
type memoryNearest struct{ meaning *Projection }

func (n memoryNearest) Closest(ctx context.Context, q Question) (Shortlist, error) {
	// Go on reading after the caller has left: otherwise a large tenant might never be read if every caller leaves early.
	l, err := n.meaning.Cache.load(context.WithoutCancel(ctx), n.meaning, q.search.By.Tenant)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "read sketches", err)
	}
	return q.among(ctx, l)
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

func (memoryNearest) PiecesOf(_ context.Context, _ Question, s Shortlist, numbers []int64) ([]NearPiece, error) {
	return s.index.piecesOf(numbers), nil
}
