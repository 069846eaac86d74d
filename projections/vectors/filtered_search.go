package vectors

import (
	"context"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/projections/rows"
)

// A search asks the filter first about firstReach times as many of the nearest pieces as it wants. Then it asks about
// as many as the share that passed suggests, times reachMargin. Beyond this share of a scope, one query for all items
// that pass is cheaper.
const (
	firstReach    = 3
	reachMargin   = 1.5
	fullScanShare = 8
)

// filteredSearch notes which items pass a question's filter.
type filteredSearch struct {
	question Question
	index    *VectorIndex
	asked    map[int64]bool
	passed   map[int64]bool
}

// wanted are the items that may be found: those that pass the filter and are near enough. nil means no filter; an
// empty slice means that no item passes.
func (q Question) wanted(ctx context.Context, l *VectorIndex) ([]int64, error) {
	if rows.IsPlain(q.rest) {
		return nil, nil
	}
	s := &filteredSearch{question: q, index: l, asked: map[int64]bool{}, passed: map[int64]bool{}}
	reach := make([]int, len(q.Scopes))
	for i, place := range q.Scopes {
		reach[i] = firstReach * q.Depths(place).sketches
	}
	for {
		near := s.near(reach)
		if err := s.ask(ctx, slices.Concat(near...)); err != nil {
			return nil, err
		}
		enough, tooMany := s.widen(reach, near)
		switch {
		case enough:
			return append([]int64{}, slices.Sorted(maps.Keys(s.passed))...), nil // never nil
		case tooMany:
			return q.passing(ctx)
		}
	}
}

// near returns each scope's nearest items by their sketches; an item may occur twice.
func (s *filteredSearch) near(reach []int) [][]int64 {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	near := make([][]int64, len(reach))
	for i, place := range s.question.Scopes {
		shelf := s.index.sketches[place]
		if shelf == nil || reach[i] == 0 {
			continue
		}
		for _, at := range shelf.Closest(s.question.sketch, reach[i], nil) {
			near[i] = append(near[i], shelf.numbers[at])
		}
	}
	return near
}

// ask looks up which of the items pass, except those that it looked up before.
func (s *filteredSearch) ask(ctx context.Context, numbers []int64) error {
	numbers = slices.DeleteFunc(numbers, func(number int64) bool {
		known := s.asked[number]
		s.asked[number] = true
		return known
	})
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	p, tenant := s.question.from, s.question.search.By.Tenant
	in := rows.Table{Engine: p.DB.Engine, Tenant: tenant, Table: p.Tables.Knowledge, Alias: "k", Condition: rows.Live}
	query := p.Where(
		rows.LookUp(p.From.NewSelect().ColumnExpr("k.number"), in, rows.SingleKeys(numbers), "number"), tenant,
		s.question.rest,
	)
	var passed []int64
	if err := query.Scan(ctx, &passed); err != nil {
		return rows.Failed(ctx, "filter", err)
	}
	for _, number := range passed {
		s.passed[number] = true
	}
	return nil
}

// widen sets each scope's next reach: 0 if the scope has returned enough items, or all that it has.
func (s *filteredSearch) widen(reach []int, near [][]int64) (enough, tooMany bool) {
	sizes := s.sizes()
	enough = true
	for i, place := range s.question.Scopes {
		if reach[i] == 0 { // it is finished
			continue
		}
		want, passed := s.question.Depths(place).sketches, 0
		for _, number := range near[i] {
			if s.passed[number] {
				passed++
			}
		}
		if passed >= want || len(near[i]) >= sizes[i] {
			reach[i] = 0
			continue
		}
		enough = false
		reach[i] = int(reachMargin * float64(want) * float64(len(near[i])) / float64(max(1, passed)))
		reach[i] = min(max(reach[i], 2*len(near[i])), sizes[i])
		if reach[i] > max(sizes[i]/fullScanShare, firstReach*firstReach*want) {
			tooMany = true
		}
	}
	return enough, tooMany
}

// sizes are how many pieces each scope has.
func (s *filteredSearch) sizes() []int {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	sizes := make([]int, len(s.question.Scopes))
	for i, place := range s.question.Scopes {
		if shelf := s.index.sketches[place]; shelf != nil {
			sizes[i] = len(shelf.numbers)
		}
	}
	return sizes
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
