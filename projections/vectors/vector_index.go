package vectors

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/words"
)

// VectorIndex has a tenant's sketches, and vectors that searches requested. Vectors never change, so none is out of
// date. It is safe for concurrent use.
type VectorIndex struct {
	loadLock sync.Mutex // held while the database is read; searches go on

	mu          sync.RWMutex
	loaded      bool
	position    int64     // the log is applied up to here, as far as the projection had read it
	turns       int64     // how often the projection had left the log's order by then
	checkedAt   time.Time // when position was last compared with the checkpoint
	sketches    *SketchIndex
	Vectors     map[Hash][]float32 // none while it is not loaded
	dims        int
	loadPending bool        // a load is in progress
	pending     []*embedded // committed during the load

	Bytes    int   // as the cache knows it, which guards it
	searched int64 // the number of the last search; likewise
}

func newVectorIndex() *VectorIndex { return &VectorIndex{sketches: NewSketchIndex()} }

// NearPiece is a piece whose vector is worth comparing.
type NearPiece struct {
	Number int64
	Hash   Hash
}

// update replaces the pieces of items after their commit.
func (l *VectorIndex) update(e *embedded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loadPending {
		l.pending = append(l.pending, e)
	}
	l.apply(e)
}

// apply applies a page. A load or catchUp may have applied it already. If pages before it are missing, or the
// projection has left the log's order, everything must be read again.
func (l *VectorIndex) apply(e *embedded) {
	switch {
	case !l.loaded:
	case e.late || e.turns >= 0 && e.turns != l.turns || e.after > l.position:
		l.unload()
	case e.through > l.position:
		l.position = e.through
		l.replacePieces(e)
	}
}

// unload lets the next search read everything again.
func (l *VectorIndex) unload() { l.loaded, l.Vectors = false, nil }

// replacePieces replaces the pieces of items.
func (l *VectorIndex) replacePieces(e *embedded) {
	for _, text := range l.sketches.remove(e.numbers) {
		delete(l.Vectors, text)
	}
	for _, p := range e.pieces {
		l.sketches.Add(p.number, p.Hash, p.sketch, p.scopes...)
	}
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
	fresh := NewSketchIndex()
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
	l.loaded, l.position, l.turns, l.checkedAt, l.sketches = true, position, turns, time.Now(), fresh
	l.Vectors = map[Hash][]float32{}
	for _, e := range late {
		l.apply(e)
	}
	return true, nil
}

// bytes is about how much memory the index takes.
func (l *VectorIndex) bytes() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.sketches.bytes() + l.vectorBytes()
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

// read reads a tenant's sketches, and then which items each scope has.
func (s *SketchIndex) read(ctx context.Context, m *Projection, tenant string) error {
	var number int64
	err := database.ForEach(ctx, m.db, func(rows *sql.Rows) error {
		var name, encoded sql.RawBytes
		if err := rows.Scan(&number, &name, &encoded); err != nil {
			return err
		}
		sketch, err := m.decodeSketch(encoded)
		if err == nil {
			s.Add(number, Hash(name), sketch)
		}
		return err
	}, "SELECT m.number, m.text_hash, "+m.sketchColumn()+" FROM ? AS m WHERE m.tenant = ? ORDER BY m.number",
		m.Tables.pieces, tenant)
	if err != nil {
		return err
	}
	index := words.Index{View: m.catalogue.ViewOf(m.catalogue.Active(), m.db.DB)}
	everything := words.Groups(nil).In(domain.Audience{Everything: true})
	all, err := index.Choose(ctx, tenant, everything, words.ScopeSets)
	for key, numbers := range all.Sets {
		s.scope(key).Or(s.placesOf(numbers))
	}
	return err
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

// closest returns the pieces of each of the question's scopes whose sketches differ least, and of these the nearest.
// wanted are the only items to consider; nil for all.
func (l *VectorIndex) closest(q Question, wanted *roaring.Bitmap) [][]NearPiece {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var passing *roaring.Bitmap
	if wanted != nil {
		passing = l.sketches.placesOf(wanted)
	}
	pieces := make([][]NearPiece, len(q.Scopes))
	for i, scope := range q.Scopes {
		among := l.sketches.scopes[words.SetOfScope(scope)]
		if among != nil && wanted != nil {
			among = roaring.And(among, passing)
		}
		if among == nil {
			continue
		}
		depths := q.depthsIn(scope, int(among.GetCardinality()))
		places := l.sketches.Closest(q.sketch, depths.sketches, among)
		pieces[i] = l.sketches.nearest(places, q.sketchQuery, depths.Compared)
	}
	return pieces
}
