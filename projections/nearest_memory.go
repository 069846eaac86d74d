package projections

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// memoryNearest keeps the sketches of SQLite's one process in memory and compares the vectors of
// the best, of which it keeps some. A tenant's sketches are read when it is searched and they are not there.
type memoryNearest struct {
	meaning *Meaning
	shelves *libraries
	vectors vectorCache
}

// learn replaces the pieces of items in memory.
func (n *memoryNearest) learn(e *embedded) {
	n.vectors.forget(e.tenant, n.shelves.learn(e))
}

func (n *memoryNearest) search(ctx context.Context, q question) (nearby, error) {
	l, err := n.shelves.load(ctx, n.meaning, q.search.By.Tenant)
	if err != nil {
		return nearby{}, n.meaning.knowledge.failed(ctx, "read sketches", err)
	}
	wanted, err := n.wanted(ctx, q)
	if err != nil {
		return nearby{}, err
	}
	places := make([][]candidate, len(q.places))
	plans := make([]domain.ScopePlan, len(q.places))
	for i, scope := range q.places {
		places[i] = l.closest(scope, q.sketch, q.depths(scope).sketches, wanted)
		plans[i] = domain.ScopePlan{Scope: scope, Plan: planSketch}
	}
	cosines, err := n.cosines(ctx, q, slices.Concat(places...))
	if err != nil {
		return nearby{}, err
	}
	for i, place := range places {
		slices.SortFunc(place, func(a, b candidate) int { return cmp.Compare(cosines[b.hash], cosines[a.hash]) })
		places[i] = place[:min(len(place), q.depths(q.places[i]).vectors)]
	}
	items, err := n.items(ctx, q, slices.Concat(places...))
	if err != nil {
		return nearby{}, err
	}
	var readings []reading
	for i, place := range places {
		for _, c := range place {
			item, passed := items[c.number]
			cosine, compared := cosines[c.hash]
			readings = append(readings, reading{place: i, passed: passed, near: near{slim: item, cosine: cosine, compared: compared}})
		}
	}
	return q.gather(readings, plans), nil
}

func (n *memoryNearest) compare(ctx context.Context, q question, numbers []int64) ([]near, error) {
	l, err := n.shelves.load(ctx, n.meaning, q.search.By.Tenant)
	if err != nil {
		return nil, n.meaning.knowledge.failed(ctx, "read sketches", err)
	}
	pieces := l.piecesOf(numbers)
	cosines, err := n.cosines(ctx, q, pieces)
	if err != nil {
		return nil, err
	}
	items, err := q.from.slims(ctx, q.search, numbers)
	if err != nil {
		return nil, err
	}
	list := make([]near, len(items))
	at := make(map[int64]int, len(items))
	for i, item := range items {
		list[i].slim, at[item.number] = item, i
	}
	for _, piece := range pieces {
		i, passed := at[piece.number]
		cosine, compared := cosines[piece.hash]
		if passed && compared && (!list[i].compared || cosine > list[i].cosine) {
			list[i].cosine, list[i].compared = cosine, true
		}
	}
	return list, nil
}

// cosines compares the vectors of pieces, by the hash of their text. Those that were erased since have
// none.
func (n *memoryNearest) cosines(ctx context.Context, q question, pieces []candidate) (map[hash]float64, error) {
	found := make(map[hash][]float32, len(pieces))
	missing := n.vectors.find(q.search.By.Tenant, pieces, found)
	if len(missing) > 0 {
		stored, err := n.meaning.stored(ctx, q.search.By.Tenant, missing)
		if err != nil {
			return nil, err
		}
		n.vectors.keep(q.search.By.Tenant, stored)
		maps.Copy(found, stored)
	}
	cosines := make(map[hash]float64, len(found))
	for name, vector := range found {
		cosines[name] = embedding.Cosine(vector, q.vector)
	}
	return cosines, nil
}

// items are those of the pieces' items that pass, by number.
func (n *memoryNearest) items(ctx context.Context, q question, pieces []candidate) (map[int64]slim, error) {
	numbers := make([]int64, len(pieces))
	for i, piece := range pieces {
		numbers[i] = piece.number
	}
	slices.Sort(numbers)
	found, err := q.from.slims(ctx, q.search, slices.Compact(numbers))
	items := make(map[int64]slim, len(found))
	for _, item := range found {
		items[item.number] = item
	}
	return items, err
}

// wanted are the items that pass what the filter asks for; nil if all do.
func (n *memoryNearest) wanted(ctx context.Context, q question) (map[int64]bool, error) {
	if isPlain(q.rest) {
		return nil, nil
	}
	p := q.from
	query := p.reads.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("k.number")
	query = p.where(query, q.search.By.Tenant, q.rest)
	if q.places[0] != "" {
		query = query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.tables().scopes, q.search.By.Tenant, bun.List(q.places))
	}
	var numbers []int64
	if err := query.Scan(ctx, &numbers); err != nil {
		return nil, p.failed(ctx, "filter", err)
	}
	wanted := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		wanted[number] = true
	}
	return wanted, nil
}
