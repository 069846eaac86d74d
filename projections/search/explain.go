package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
)

// explain counts the items that a search could have found, and describes how it searched.
func (f *Execution) explain(ctx context.Context, started time.Time) (*domain.Explanation, error) {
	p := f.Request
	e := &domain.Explanation{Audience: f.Audience.Scopes, BestBelow: f.bestBelow}
	for _, term := range f.words.Terms {
		e.Terms = append(e.Terms, term.Term)
	}
	visible := func() *bun.SelectQuery {
		query := p.From.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("count(*)")
		if f.Audience.Everything {
			return query
		}
		return query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.Tables.Scopes, f.Search.By.Tenant, bun.List(f.Audience.Scopes))
	}
	err := p.Where(visible(), f.Search.By.Tenant, domain.Filter{}).Scan(ctx, &e.Visible)
	if err != nil {
		return nil, rows.Failed(ctx, "count what is visible", err)
	}
	e.Passed = e.Visible
	if !rows.IsPlain(f.Search.Filter) || f.Search.Filter.NoArchives {
		if err := p.Where(visible(), f.Search.By.Tenant, f.Search.Filter).Scan(ctx, &e.Passed); err != nil {
			return nil, rows.Failed(ctx, "count what passes", err)
		}
	}
	if e.Plans, err = f.plans(ctx); err != nil {
		return nil, err
	}
	e.Took = time.Since(started)
	return e, nil
}

// plans are how each scope that has items was searched by meaning, the smallest first.
func (f *Execution) plans(ctx context.Context) ([]domain.ScopePlan, error) {
	if len(f.shortlist.Plans) == 0 {
		return nil, nil
	}
	q := f.question
	sizes, err := f.sizes(ctx, q.Scopes)
	if err != nil {
		return nil, rows.Failed(ctx, "count what scopes hold", err)
	}
	plans := slices.Clone(f.shortlist.Plans)
	for i := range plans {
		plans[i].Items = sizes[plans[i].Scope]
		if plans[i].Plan == vectors.PlanSketch && plans[i].Items <= int64(q.Depths(plans[i].Scope).Compared) {
			plans[i].Plan = vectors.PlanExact
		}
	}
	plans = slices.DeleteFunc(plans, func(plan domain.ScopePlan) bool { return plan.Items == 0 })
	slices.SortFunc(plans, func(a, b domain.ScopePlan) int {
		return cmp.Or(cmp.Compare(a.Items, b.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return plans, nil
}

// sizes are how many items are in each scope. The empty scope is the whole tenant, and comes alone.
func (f *Execution) sizes(ctx context.Context, scopes []domain.Scope) (map[domain.Scope]int64, error) {
	query := f.From.NewSelect().TableExpr("?", f.Tables.Scopes).ColumnExpr("scope, count(*) AS items").
		Where("tenant = ?", f.Search.By.Tenant).Where("scope IN (?)", bun.List(scopes)).GroupExpr("scope")
	if scopes[0] == "" {
		query = f.From.NewSelect().TableExpr("?", f.IndexHint("live")).ColumnExpr("'' AS scope, count(*) AS items").
			Where("tenant = ?", f.Search.By.Tenant).Where(rows.Live)
	}
	var list []struct {
		Scope domain.Scope `bun:"scope"`
		Items int64        `bun:"items"`
	}
	err := query.Scan(ctx, &list)
	sizes := map[domain.Scope]int64{}
	for _, s := range list {
		sizes[s.Scope] = s.Items
	}
	return sizes, err
}
