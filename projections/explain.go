package projections

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// explain counts what a search could have found, and says how it looked.
func (f *execution) explain(ctx context.Context, started time.Time) (*domain.Explanation, error) {
	p := f.projection
	e := &domain.Explanation{Audience: f.audience.Scopes, BestBelow: f.bestBelow}
	for _, term := range f.words.terms {
		e.Terms = append(e.Terms, term.Term)
	}
	visible := func() *bun.SelectQuery {
		query := p.reads.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("count(*)")
		if f.audience.Everything {
			return query
		}
		return query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.tables().scopes, f.search.By.Tenant, bun.List(f.audience.Scopes))
	}
	err := p.where(visible(), f.search.By.Tenant, domain.Filter{}).Scan(ctx, &e.Visible)
	if err != nil {
		return nil, p.failed(ctx, "count what is visible", err)
	}
	e.Passed = e.Visible
	if !isPlain(f.search.Filter) || f.search.Filter.NoArchives {
		if err := p.where(visible(), f.search.By.Tenant, f.search.Filter).Scan(ctx, &e.Passed); err != nil {
			return nil, p.failed(ctx, "count what passes", err)
		}
	}
	if e.Plans, err = f.plans(ctx); err != nil {
		return nil, err
	}
	e.Took = time.Since(started)
	return e, nil
}

// plans says how each place that holds anything was searched by meaning, the smallest first.
func (f *execution) plans(ctx context.Context) ([]domain.ScopePlan, error) {
	if len(f.shortlist.plans) == 0 {
		return nil, nil
	}
	q := f.question
	sizes, err := f.projection.scopeSizes.of(ctx, f.projection, f.search.By.Tenant, q.scopes)
	if err != nil {
		return nil, err
	}
	plans := slices.Clone(f.shortlist.plans)
	for i := range plans {
		plans[i].Items = sizes[plans[i].Scope].items
		if plans[i].Plan == planSketch && plans[i].Items <= int64(q.depths(plans[i].Scope).compared) {
			plans[i].Plan = planExact
		}
	}
	plans = slices.DeleteFunc(plans, func(plan domain.ScopePlan) bool { return plan.Items == 0 })
	slices.SortFunc(plans, func(a, b domain.ScopePlan) int {
		return cmp.Or(cmp.Compare(a.Items, b.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return plans, nil
}
