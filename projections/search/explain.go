package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// explain counts the items that a search could have found, and describes how it searched.
func (f *Execution) explain(ctx context.Context, started time.Time) (*domain.Explanation, error) {
	p := f.Request
	e := &domain.Explanation{Audience: f.Audience.Scopes, BestBelow: f.bestBelow}
	for _, term := range f.words.Terms {
		e.Terms = append(e.Terms, term.Term)
	}
	tenant, filter := f.Search.By.Tenant, f.Search.Filter
	active := words.GroupsOf(domain.Filter{})
	visible, err := p.Choose(ctx, tenant, active.In(f.Audience), words.SetsOfGroups)
	if err != nil {
		return nil, err
	}
	groups := p.GroupsOf(filter)
	passed, err := p.Choose(ctx, tenant, groups.In(f.Audience), words.SetsOfGroups)
	if err == nil {
		err = p.KeepPassing(ctx, tenant, filter, passed)
	}
	if err != nil {
		return nil, err
	}
	e.Visible, e.Passed = int64(visible.GetCardinality()), int64(passed.GetCardinality())
	e.Plans = f.plans(passed)
	e.Took = time.Since(started)
	return e, nil
}

// plans are how each scope that has items was searched by meaning, the smallest first. The sets have the scopes.
func (f *Execution) plans(sets words.Chosen) []domain.ScopePlan {
	last := f.meanings[len(f.meanings)-1]
	if last.embedding.Vector == nil {
		last = f.meanings[0]
	}
	q, plans := last.question, slices.Clone(last.shortlist.Plans)
	for i := range plans {
		plans[i].Items = sets.Size(words.SetOfScope(plans[i].Scope))
		if plans[i].Plan == vectors.PlanSketch && plans[i].Items <= int64(q.Depths(plans[i].Scope).Compared) {
			plans[i].Plan = vectors.PlanExact
		}
	}
	plans = slices.DeleteFunc(plans, func(plan domain.ScopePlan) bool { return plan.Items == 0 })
	slices.SortFunc(plans, func(a, b domain.ScopePlan) int {
		return cmp.Or(cmp.Compare(a.Items, b.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return plans
}
