package vectors

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

// VectorIndex has a tenant's sketches by scope, and all of them again under the empty scope.
type VectorIndex struct {
	loadLock sync.Mutex // held while the database is read; searches go on

	mu          sync.RWMutex
	loaded      bool
	position    int64     // the log is applied up to here, as far as the projection had read it
	turns       int64     // how often the projection had left the log's order by then
	checkedAt   time.Time // when position was last compared with the checkpoint
	searchedAt  time.Time // when it was last searched
	sketches    map[domain.Scope]*SketchIndex
	loadPending bool        // a load is in progress
	pending     []*embedded // committed during the load
}

// NearPiece is a piece whose vector is worth comparing.
type NearPiece struct {
	Number int64
	Hash   Hash
}

// update replaces the pieces of items after their commit, and returns the texts of removed pieces.
func (l *VectorIndex) update(e *embedded) (gone []Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loadPending {
		l.pending = append(l.pending, e)
	}
	return l.apply(e)
}

// apply applies a page. A load or catchUp may have applied it already. If pages before it are missing, or the
// projection has left the log's order, everything must be read again.
func (l *VectorIndex) apply(e *embedded) (gone []Hash) {
	switch {
	case !l.loaded:
		return nil
	case e.late || e.turns >= 0 && e.turns != l.turns:
		l.loaded = false
		return nil
	case e.through <= l.position:
		return nil
	case e.after > l.position:
		l.loaded = false
		return nil
	}
	l.position = e.through
	return l.replacePieces(e)
}

// replacePieces replaces the pieces of items, and returns the texts of the removed ones.
func (l *VectorIndex) replacePieces(e *embedded) (gone []Hash) {
	for scope, shelf := range l.sketches {
		for _, number := range e.numbers {
			if scope == "" {
				for _, place := range shelf.positions[number] {
					gone = append(gone, shelf.hashes[place])
				}
			}
			shelf.remove(number)
		}
	}
	for _, p := range e.pieces {
		l.addPiece("", p.number, p.Hash, p.sketch)
		for _, scope := range p.scopes {
			l.addPiece(scope, p.number, p.Hash, p.sketch)
		}
	}
	return gone
}

func (l *VectorIndex) addPiece(scope domain.Scope, number int64, h Hash, sketch []uint64) {
	if l.sketches[scope] == nil {
		l.sketches[scope] = NewSketchIndex(len(sketch))
	}
	l.sketches[scope].Add(number, h, sketch)
}

// pieceKey identifies a piece, whatever its scopes.
type pieceKey struct {
	number int64
	index  int
}

// load reads a tenant's sketches, unless they are loaded.
func (l *VectorIndex) load(ctx context.Context, m *Projection, tenant string) (read bool, err error) {
	if l.isLoaded() {
		return false, nil
	}
	l.loadLock.Lock()
	defer l.loadLock.Unlock()
	if l.isLoaded() {
		return false, nil
	}
	l.beginLoad()
	// Read the checkpoint first: a later commit is either in what is read, or in pending.
	position, turns, err := m.checkpoint(ctx, tenant)
	fresh := &VectorIndex{sketches: map[domain.Scope]*SketchIndex{}}
	if err == nil {
		err = fresh.read(ctx, m, tenant)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	late := l.pending
	l.loadPending, l.pending = false, nil
	if err != nil {
		return false, err
	}
	l.loaded, l.position, l.turns, l.checkedAt, l.sketches = true, position, turns, time.Now(), fresh.sketches
	for _, e := range late {
		l.apply(e)
	}
	return true, nil
}

// bytes is about how much memory the index takes.
func (l *VectorIndex) bytes() (all int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.sketches {
		all += s.bytes()
	}
	return all
}

func (l *VectorIndex) beginLoad() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadPending, l.pending = true, nil
}

func (l *VectorIndex) isLoaded() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.loaded
}

// checkpoint is how far the projection has read a tenant's log, and how often it has left the log's order.
func (m *Projection) checkpoint(ctx context.Context, tenant string) (position, turns int64, err error) {
	err = m.db.NewSelect().TableExpr("checkpoints").
		ColumnExpr("coalesce(max(position), 0), coalesce(max(quarantines), 0)").
		Where("projection = ?", m.Name()).Where("tenant = ?", tenant).Scan(ctx, &position, &turns)
	return position, turns, err
}

func (l *VectorIndex) read(ctx context.Context, m *Projection, tenant string) error {
	rows, err := m.db.NewSelect().TableExpr("? AS m", m.Tables.pieces).
		ColumnExpr("m.scope, m.number, m.piece, m.text_hash, "+m.sketchColumn()).Where("m.tenant = ?", tenant).Rows(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	seen := map[pieceKey]bool{}
	for rows.Next() {
		var scope domain.Scope
		var key pieceKey
		var name, encoded sql.RawBytes
		if err := rows.Scan(&scope, &key.number, &key.index, &name, &encoded); err != nil {
			return err
		}
		sketch, err := m.decodeSketch(encoded)
		if err != nil {
			return err
		}
		l.addPiece(scope, key.number, Hash(name), sketch)
		if !seen[key] {
			seen[key] = true
			l.addPiece("", key.number, Hash(name), sketch)
		}
	}
	return rows.Err()
}

// sketchColumn selects a sketch as bytes. As text PostgreSQL would format every bit.
func (m *Projection) sketchColumn() string {
	if m.db.Engine == database.Postgres {
		return "bit_send(m.sketch)"
	}
	return "m.sketch"
}

// bitsHeader is how many bytes of length precede the bits in PostgreSQL's format.
const bitsHeader = 4

func (m *Projection) decodeSketch(encoded []byte) ([]uint64, error) {
	if m.db.Engine == database.Postgres {
		encoded = encoded[min(bitsHeader, len(encoded)):]
	}
	sketch, err := embedding.DecodeSketch(encoded)
	if err != nil {
		return nil, fmt.Errorf("read sketches: %w", err)
	}
	return sketch, nil
}

// closest returns the pieces of a scope whose sketches differ least, and of these the nearest.
func (l *VectorIndex) closest(scope domain.Scope, q Question, wanted []int64) []NearPiece {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.sketches[scope]
	if s == nil {
		return nil
	}
	pieces := len(s.numbers)
	if wanted != nil {
		pieces = len(wanted)
	}
	depths := q.depthsIn(scope, pieces)
	return s.pieces(s.keepNearest(s.Closest(q.sketch, depths.sketches, wanted), q.sketchQuery, depths.Compared))
}

// piecesOf returns the pieces of items.
func (l *VectorIndex) piecesOf(numbers []int64) []NearPiece {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.sketches[""]
	if s == nil {
		return nil
	}
	var pieces []NearPiece
	for _, number := range numbers {
		pieces = append(pieces, s.pieces(s.positions[number])...)
	}
	return pieces
}

func (s *SketchIndex) pieces(places []int) []NearPiece {
	pieces := make([]NearPiece, len(places))
	for i, place := range places {
		pieces[i] = NearPiece{s.numbers[place], s.hashes[place]}
	}
	return pieces
}
