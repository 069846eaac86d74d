package projections

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// memoryNearest keeps the sketches of SQLite's one process in memory and compares the vectors of
// the best. A tenant's sketches are read when it is first searched.
type memoryNearest struct {
	meaning *Meaning
	cache   vectorCache

	mu      sync.Mutex
	tenants map[string]*library
}

// library holds a tenant's sketches by scope, and all of them once more under the empty scope.
type library struct {
	mu      sync.RWMutex
	loaded  bool
	shelves map[domain.Scope]*shelf
}

func (n *memoryNearest) library(tenant string) *library {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tenants == nil {
		n.tenants = map[string]*library{}
	}
	if n.tenants[tenant] == nil {
		n.tenants[tenant] = &library{shelves: map[domain.Scope]*shelf{}}
	}
	return n.tenants[tenant]
}

// learn replaces the pieces of items in memory. It comes after their commit, so that whatever a
// load that runs meanwhile has missed is put in place here.
func (n *memoryNearest) learn(e *embedded) {
	l := n.library(e.tenant)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		return
	}
	for _, shelf := range l.shelves {
		for _, number := range e.numbers {
			shelf.take(number)
		}
	}
	for _, p := range e.pieces {
		l.put("", p.number, p.hash, p.sketch)
		for _, scope := range p.scopes {
			l.put(scope, p.number, p.hash, p.sketch)
		}
	}
}

func (l *library) put(scope domain.Scope, number int64, h hash, sketch []uint64) {
	if l.shelves[scope] == nil {
		l.shelves[scope] = newShelf(len(sketch))
	}
	l.shelves[scope].put(number, h, sketch)
}

// load reads a tenant's sketches once.
func (n *memoryNearest) load(ctx context.Context, tenant string) (*library, error) {
	l := n.library(tenant)
	l.mu.RLock()
	loaded := l.loaded
	l.mu.RUnlock()
	if loaded {
		return l, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded {
		return l, nil
	}
	rows, err := n.meaning.db.NewSelect().TableExpr("?", n.meaning.tables.pieces).
		Column("scope", "number", "piece", "text_hash", "sketch").Where("tenant = ?", tenant).Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	clear(l.shelves)
	seen := map[pieceKey]bool{}
	for rows.Next() {
		var scope domain.Scope
		var key pieceKey
		var name, encoded []byte
		if err := rows.Scan(&scope, &key.number, &key.index, &name, &encoded); err != nil {
			return nil, err
		}
		sketch, err := embedding.DecodeSketch(encoded)
		if err != nil {
			return nil, fmt.Errorf("read sketches: %w", err)
		}
		l.put(scope, key.number, hash(name), sketch)
		if !seen[key] {
			seen[key] = true
			l.put("", key.number, hash(name), sketch)
		}
	}
	l.loaded = rows.Err() == nil
	return l, rows.Err()
}

// pieceKey tells a piece from others, in however many scopes it stands.
type pieceKey struct {
	number int64
	index  int
}

// candidate is a piece whose vector is to be compared.
type candidate struct {
	number int64
	hash   hash
}

func (n *memoryNearest) search(ctx context.Context, q question) (map[int64]float64, []domain.ScopePlan, error) {
	tenant := q.search.By.Tenant
	l, err := n.load(ctx, tenant)
	if err != nil {
		return nil, nil, n.meaning.knowledge.failed(ctx, "read sketches", err)
	}
	wanted, err := n.wanted(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	candidates, plans := l.candidates(q, wanted)
	vectors, err := n.vectors(ctx, tenant, candidates)
	if err != nil {
		return nil, nil, err
	}
	cosines := make(map[int64]float64, len(candidates))
	for _, c := range candidates {
		vector, found := vectors[c.hash]
		if !found {
			continue // erased since
		}
		cosine := embedding.Cosine(vector, q.vector)
		if known, seen := cosines[c.number]; !seen || cosine > known {
			cosines[c.number] = cosine
		}
	}
	return cosines, plans, nil
}

// wanted are the items that pass the filter; nil if all do.
func (n *memoryNearest) wanted(ctx context.Context, q question) (map[int64]bool, error) {
	if isPlain(q.search.Filter) {
		return nil, nil
	}
	p := q.from
	query := p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("k.number")
	query = p.where(query, q.search.By.Tenant, q.search.Filter)
	if !q.audience.Everything {
		query = query.Where("k.number IN (SELECT a.number FROM ? AS a WHERE a.tenant = ? AND a.scope IN (?))",
			p.tables().scopes, q.search.By.Tenant, bun.List(q.audience.Scopes))
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

// candidates are the best pieces of each scope by their sketches, and those of the items asked
// about.
func (l *library) candidates(q question, wanted map[int64]bool) ([]candidate, []domain.ScopePlan) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var found []candidate
	var plans []domain.ScopePlan
	seen := map[candidate]bool{}
	note := func(s *shelf, places []int) {
		for _, place := range places {
			c := candidate{s.numbers[place], s.hashes[place]}
			if !seen[c] {
				seen[c] = true
				found = append(found, c)
			}
		}
	}
	sketch := embedding.Sketch(q.vector)
	for _, scope := range l.scopes(q.audience) {
		s := l.shelves[scope]
		if s == nil {
			continue
		}
		note(s, s.closest(sketch, rescored, wanted))
		for _, number := range q.known {
			note(s, s.places[number])
		}
		plan := planSketch
		if len(s.numbers) <= rescored {
			plan = planExact
		}
		plans = append(plans, domain.ScopePlan{Scope: scope, Items: int64(len(s.numbers)), Plan: plan})
	}
	return found, plans
}

func (l *library) scopes(audience domain.Audience) []domain.Scope {
	if audience.Everything {
		return []domain.Scope{""}
	}
	return audience.Scopes
}

func (n *memoryNearest) vectors(ctx context.Context, tenant string, candidates []candidate) (map[hash][]float32, error) {
	wanted := make([]piece, len(candidates))
	for i, c := range candidates {
		wanted[i].hash = c.hash
	}
	found := make(map[hash][]float32, len(wanted))
	missing := n.cache.find(tenant, wanted, found)
	if len(missing) == 0 {
		return found, nil
	}
	stored, err := n.meaning.stored(ctx, tenant, missing)
	if err != nil {
		return nil, err
	}
	n.cache.keep(tenant, stored)
	maps.Copy(found, stored)
	return found, nil
}
