package projections

import (
	"context"
	"fmt"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// library holds a tenant's sketches by scope, and all of them once more under the empty scope.
type library struct {
	mu      sync.RWMutex
	loaded  bool
	shelves map[domain.Scope]*shelf
}

// candidate is a piece whose vector is to be compared.
type candidate struct {
	number int64
	hash   hash
}

// learn replaces the pieces of items, and gives the texts of those that went. It comes after their
// commit, so that whatever a load that runs meanwhile has missed is put in place here.
func (l *library) learn(e *embedded) (gone []hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		return nil
	}
	for scope, shelf := range l.shelves {
		for _, number := range e.numbers {
			if scope == "" {
				for _, place := range shelf.places[number] {
					gone = append(gone, shelf.hashes[place])
				}
			}
			shelf.take(number)
		}
	}
	for _, p := range e.pieces {
		l.put("", p.number, p.hash, p.sketch)
		for _, scope := range p.scopes {
			l.put(scope, p.number, p.hash, p.sketch)
		}
	}
	return gone
}

func (l *library) put(scope domain.Scope, number int64, h hash, sketch []uint64) {
	if l.shelves[scope] == nil {
		l.shelves[scope] = newShelf(len(sketch))
	}
	l.shelves[scope].put(number, h, sketch)
}

// pieceKey tells a piece from others, in however many scopes it stands.
type pieceKey struct {
	number int64
	index  int
}

// load reads a tenant's sketches, unless that was done before.
func (l *library) load(ctx context.Context, m *Meaning, tenant string) (read bool, err error) {
	l.mu.RLock()
	loaded := l.loaded
	l.mu.RUnlock()
	if loaded {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded {
		return false, nil
	}
	rows, err := m.db.NewSelect().TableExpr("?", m.tables.pieces).
		Column("scope", "number", "piece", "text_hash", "sketch").Where("tenant = ?", tenant).Rows(ctx)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	clear(l.shelves)
	seen := map[pieceKey]bool{}
	for rows.Next() {
		var scope domain.Scope
		var key pieceKey
		var name, encoded []byte
		if err := rows.Scan(&scope, &key.number, &key.index, &name, &encoded); err != nil {
			return false, err
		}
		sketch, err := embedding.DecodeSketch(encoded)
		if err != nil {
			return false, fmt.Errorf("read sketches: %w", err)
		}
		l.put(scope, key.number, hash(name), sketch)
		if !seen[key] {
			seen[key] = true
			l.put("", key.number, hash(name), sketch)
		}
	}
	l.loaded = rows.Err() == nil
	return l.loaded, rows.Err()
}

// bytes is about how much memory the library takes.
func (l *library) bytes() (all int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.shelves {
		all += s.bytes()
	}
	return all
}

// closest gives the pieces of a scope whose sketches differ least.
func (l *library) closest(scope domain.Scope, sketch []uint64, most int, wanted map[int64]bool) []candidate {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.shelves[scope]
	if s == nil {
		return nil
	}
	return s.at(s.closest(sketch, most, wanted))
}

// piecesOf gives the pieces of items.
func (l *library) piecesOf(numbers []int64) []candidate {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.shelves[""]
	if s == nil {
		return nil
	}
	var pieces []candidate
	for _, number := range numbers {
		pieces = append(pieces, s.at(s.places[number])...)
	}
	return pieces
}

func (s *shelf) at(places []int) []candidate {
	pieces := make([]candidate, len(places))
	for i, place := range places {
		pieces[i] = candidate{s.numbers[place], s.hashes[place]}
	}
	return pieces
}
