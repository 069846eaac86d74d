package projections

import (
	"cmp"
	"context"
	"maps"
	"slices"

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

func (n *memoryNearest) closest(ctx context.Context, q question) (shortlist, error) {
	l, err := n.shelves.load(ctx, n.meaning, q.search.By.Tenant)
	if err != nil {
		return shortlist{}, n.meaning.knowledge.failed(ctx, "read sketches", err)
	}
	return q.among(ctx, l)
}

// among looks for the closest pieces in memory.
func (q question) among(ctx context.Context, l *library) (shortlist, error) {
	wanted, err := q.wanted(ctx, l)
	if err != nil {
		return shortlist{}, err
	}
	s := shortlist{places: make([][]candidate, len(q.places)), plans: make([]domain.ScopePlan, len(q.places)), library: l}
	for i, scope := range q.places {
		s.places[i] = l.closest(scope, q, wanted)
		s.plans[i] = domain.ScopePlan{Scope: scope, Plan: planSketch}
	}
	return s, nil
}

func (n *memoryNearest) compare(ctx context.Context, q question, s shortlist, numbers []int64) (nearby, error) {
	others := s.library.piecesOf(numbers)
	cosines, err := n.cosines(ctx, q, append(slices.Concat(s.places...), others...))
	if err != nil {
		return nearby{}, err
	}
	nearer := func(a, b candidate) int { return cmp.Compare(cosines[b.hash], cosines[a.hash]) }
	asked := slices.Clone(numbers)
	for i, place := range s.places {
		slices.SortFunc(place, nearer)
		s.places[i] = place[:min(len(place), q.depths(q.places[i]).vectors)]
		for _, c := range s.places[i] {
			asked = append(asked, c.number)
		}
	}
	slices.Sort(asked)
	found, err := q.from.slims(ctx, q.search, slices.Compact(asked))
	if err != nil {
		return nearby{}, err
	}
	items := make(map[int64]slim, len(found))
	for _, item := range found {
		items[item.number] = item
	}
	readings := make([]reading, 0, len(asked))
	read := func(place int, c candidate) {
		item, passed := items[c.number]
		cosine, compared := cosines[c.hash]
		readings = append(readings, reading{place: place, passed: passed, near: near{slim: item, cosine: cosine, compared: compared}})
	}
	for i, place := range s.places {
		for _, c := range place {
			read(i, c)
		}
	}
	for _, c := range others {
		read(nowhere, c)
	}
	for _, number := range numbers {
		read(nowhere, candidate{number: number}) // it may have no vector yet
	}
	return q.gather(readings), nil
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
