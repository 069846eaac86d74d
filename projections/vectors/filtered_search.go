package vectors

import (
	"context"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/projections/rows"
)

// A search asks the filter first about firstReach times as many of the nearest pieces as it wants, then about
// furtherReach times as many as before. Beyond this share of a scope, one query for all items that pass is cheaper.
const (
	firstReach    = 3
	furtherReach  = 8
	fullScanShare = 8
)

// wanted are the items that may be found: those that pass the filter and are near enough. nil means no filter; an
// empty slice means that no item passes.
func (q Question) wanted(ctx context.Context, l *VectorIndex) ([]int64, error) {
	if rows.IsPlain(q.rest) {
		return nil, nil
	}
	passed := map[int64]bool{} // false for an item that does not pass
	for reach := firstReach; ; reach *= furtherReach {
		near, sizes := q.near(l, reach)
		if err := q.ask(ctx, slices.Concat(near...), passed); err != nil {
			return nil, err
		}
		enough, costly := true, false
		for i, place := range q.Scopes {
			want, found := q.Depths(place).sketches, 0
			for _, number := range near[i] {
				if passed[number] {
					found++
				}
			}
			if found < want && len(near[i]) < sizes[i] {
				enough, costly = false, costly || furtherReach*reach*want > sizes[i]/fullScanShare
			}
		}
		switch {
		case enough:
			maps.DeleteFunc(passed, func(_ int64, passes bool) bool { return !passes })
			return append([]int64{}, slices.Sorted(maps.Keys(passed))...), nil // never nil
		case costly:
			return q.passing(ctx)
		}
	}
}

// near returns each scope's nearest items by their sketches, reach times as many as wanted, and the size of the scope.
// An item may occur twice.
func (q Question) near(l *VectorIndex, reach int) (near [][]int64, sizes []int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	near, sizes = make([][]int64, len(q.Scopes)), make([]int, len(q.Scopes))
	for i, place := range q.Scopes {
		among := l.sketches.scopes[place]
		if among == nil {
			continue
		}
		sizes[i] = int(among.GetCardinality())
		for _, at := range l.sketches.Closest(q.sketch, reach*q.Depths(place).sketches, among) {
			near[i] = append(near[i], l.sketches.numbers[at])
		}
	}
	return near, sizes
}

// ask looks up which of the items pass, except those that it looked up before.
func (q Question) ask(ctx context.Context, numbers []int64, passed map[int64]bool) error {
	numbers = slices.DeleteFunc(numbers, func(number int64) bool {
		_, known := passed[number]
		if !known {
			passed[number] = false
		}
		return known
	})
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	p, tenant := q.from, q.search.By.Tenant
	in := rows.Table{Engine: p.DB.Engine, Tenant: tenant, Table: p.Tables.Knowledge, Alias: "k", Condition: rows.Live}
	query := p.Where(
		rows.LookUp(p.From.NewSelect().ColumnExpr("k.number"), in, rows.SingleKeys(numbers), "number"), tenant, q.rest,
	)
	var passing []int64
	if err := query.Scan(ctx, &passing); err != nil {
		return rows.Failed(ctx, "filter", err)
	}
	for _, number := range passing {
		passed[number] = true
	}
	return nil
}

// passing are all items of the question's scopes that pass.
func (q Question) passing(ctx context.Context) ([]int64, error) {
	p := q.from
	query := p.From.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("k.number")
	query = p.Where(query, q.search.By.Tenant, q.rest)
	if q.Scopes[0] != "" {
		query = query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.Tables.Scopes, q.search.By.Tenant, bun.List(q.Scopes))
	}
	numbers := []int64{} // never nil
	if err := query.Scan(ctx, &numbers); err != nil {
		return nil, rows.Failed(ctx, "filter", err)
	}
	return numbers, nil
}
