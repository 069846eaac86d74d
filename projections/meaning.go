package projections

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/text"
)

// Meaning is the background projection of vectors: it follows the log, lets the embedder turn new
// and changed text into vectors, and finds what lies near a question. It is safe for concurrent use.
type Meaning struct {
	knowledge *Knowledge
	db        *database.DB
	tables    meaningTables
	embedder  embedding.Embedder
	nearest   nearest
	analyzer  *analyzer
	follower  *message.Handler // nil while it follows no log
	failure   atomic.Value     // why the model did not embed the last question, a string; empty if it did
}

func newMeaning(p *Knowledge, tables meaningTables, embedder embedding.Embedder) *Meaning {
	m := &Meaning{knowledge: p, db: p.db, tables: tables, embedder: embedder, analyzer: &analyzer{knowledge: p}}
	if p.db.Engine == database.Postgres {
		m.nearest = &postgresNearest{meaning: m, cache: newIndexCache(postgresBudget)}
	} else {
		m.nearest = &memoryNearest{meaning: m, cache: newIndexCache(sketchBudget)}
	}
	return m
}

// Name is the name under which the projection keeps its checkpoints.
func (m *Meaning) Name() string { return m.tables.checkpoint() }

// Follow lets the projection follow the log as a handler of the router.
func (m *Meaning) Follow(router *message.Router, log *events.Log) {
	m.follower = events.AddPreparer(router, log, m.Name(), m.Prepare)
}

// maxPieceTokens is how much text goes into one vector.
const maxPieceTokens = 2000

// hash names a text: SHA-256 of its bytes.
type hash = [sha256.Size]byte

// piece is a part of an item's text that has a vector of its own.
type piece struct {
	number int64
	index  int
	scopes []domain.Scope
	text   string
	hash   hash
	sketch []uint64
}

// pieces cuts what an item says: its task and abstract stand before every piece of its content, so
// that each is understood in its situation.
func pieces(k *domain.Knowledge) []piece {
	if strings.TrimSpace(k.Text.Content) == "" { // there is nothing to understand
		return nil
	}
	var list []piece
	for i, part := range text.Pieces(k.Text.Content, maxPieceTokens) {
		said := part
		for _, before := range []string{k.Text.Abstract, k.Text.Task} {
			if before != "" {
				said = before + "\n" + said
			}
		}
		list = append(list, piece{
			number: k.Number, index: i, scopes: k.Scopes, text: said, hash: sha256.Sum256([]byte(said)),
		})
	}
	return list
}

// embedded is what a page of events changes: the pieces of the items concerned, as they are now.
type embedded struct {
	meaning *Meaning
	tenant  string
	after   int64   // the page begins after this position
	through int64   // and ends with this one
	turns   int64   // as in [events.Page.OrderChanges]; negative if nobody counts them
	late    bool    // as in [events.Page.Late]
	numbers []int64 // the items, whose earlier pieces go
	pieces  []piece
	vectors map[hash][]float32
	fresh   []hash // of the vectors that the database does not have yet
}

// Prepare does the slow part of following a page of events: it reads the items concerned as they
// are now and asks the embedder for the vectors that are missing. What it returns is written in the
// transaction that also moves the checkpoint. The error matches [embedding.ErrUnavailable] while the
// model is down.
func (m *Meaning) Prepare(ctx context.Context, page events.Page) (events.Change, error) {
	m.analyzer.run(ctx, m.tables.pieces, m.tables.vectors)
	e := &embedded{meaning: m, tenant: page.Tenant, turns: -1, late: page.Late()}
	if turns, counted := page.OrderChanges(); counted {
		e.turns = turns
	}
	if len(page.Events) > 0 {
		e.after, e.through = page.After, page.Last().Position
	}
	ids := touched(page.Events)
	if len(ids) == 0 {
		return e, nil
	}
	mark, err := events.Erasures(ctx, m.db, e.tenant)
	if err != nil {
		return nil, err
	}
	var rows []row
	err = m.db.NewSelect().Model(&rows).ModelTableExpr("? AS k", m.knowledge.tables().knowledge).
		Where("tenant = ?", e.tenant).Where("id IN (?)", bun.List(ids)).Scan(ctx)
	if err != nil {
		return nil, m.knowledge.failed(ctx, "read what to embed", err)
	}
	for i := range rows {
		e.numbers = append(e.numbers, rows[i].Number)
		if k := rows[i].knowledge(); isAlive(k) {
			e.pieces = append(e.pieces, pieces(k)...)
		}
	}
	e.vectors, e.fresh, err = m.vectors(ctx, e.tenant, e.pieces, mark)
	return e, err
}

// touched are the items whose vectors or audience may have changed.
func touched(page []domain.Event) []string {
	var ids []string
	seen := set{}
	for _, event := range page {
		id, found := domain.ItemOf(event.Stream)
		if !found {
			continue
		}
		switch event.Fact.(type) {
		case domain.Remembered, domain.Revised, domain.Rescoped, domain.Superseded, domain.Deleted, domain.Restored, domain.Redacted, domain.Erased:
			seen.add(&ids, id)
		}
	}
	return ids
}

// vectors finds the vectors of pieces: those the database has, and those the embedder makes now.
func (m *Meaning) vectors(ctx context.Context, tenant string, wanted []piece, mark int64) (all map[hash][]float32, fresh []hash, err error) {
	hashes := make([]hash, len(wanted))
	for i := range wanted {
		hashes[i] = wanted[i].hash
	}
	all, err = m.stored(ctx, tenant, hashes)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	asked := map[hash]bool{}
	for _, p := range wanted {
		if _, stored := all[p.hash]; stored || asked[p.hash] {
			continue
		}
		asked[p.hash] = true
		texts, fresh = append(texts, p.text), append(fresh, p.hash)
	}
	if len(texts) == 0 {
		return all, nil, nil
	}
	for {
		request := embedding.Request(m.embedder, texts)
		made, err := m.embedder.Embed(ctx, request, embedding.Document)
		if errors.Is(err, embedding.ErrText) {
			return nil, nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
		}
		if err != nil { // whatever it is, it is not their fault: a wrong key, a model that is down
			return nil, nil, fmt.Errorf("embed %d texts: %w: %w", len(texts), domain.ErrUnavailable, err)
		}
		for i := range made {
			all[fresh[i]] = made[i]
		}
		if len(request) == len(texts) {
			return all, fresh, nil
		}
		if err := m.keep(ctx, tenant, fresh[:len(request)], all, mark); err != nil {
			return nil, nil, err
		}
		texts, fresh = texts[len(request):], fresh[len(request):]
	}
}

// keep writes the vectors of one request before the next one is made: whatever happens then, nothing is
// asked twice. Those of the last request are written with what they are for. If texts were erased since a mark,
// it does nothing, and neither will that.
func (m *Meaning) keep(ctx context.Context, tenant string, made []hash, vectors map[hash][]float32, mark int64) error {
	err := m.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		now, err := events.ShareTexts(ctx, tx, tenant)
		if err != nil || now != mark {
			return err
		}
		_, err = tx.ExecContext(ctx, m.insertVectors(tx, tenant, made, vectors).String())
		return err
	})
	if err != nil {
		return m.knowledge.failed(ctx, "keep vectors", err)
	}
	return nil
}

func (m *Meaning) insertVectors(tx bun.IDB, tenant string, made []hash, vectors map[hash][]float32) *bun.RawQuery {
	rows := make([][]any, len(made))
	for i, h := range made {
		rows[i] = []any{tenant, h[:], m.vectorValue(vectors[h])}
	}
	return tx.NewRaw("INSERT INTO ? (tenant, text_hash, vector) VALUES ? ON CONFLICT DO NOTHING", m.tables.vectors, tuples(rows))
}

func (m *Meaning) stored(ctx context.Context, tenant string, wanted []hash) (map[hash][]float32, error) {
	found := make(map[hash][]float32, len(wanted))
	for batch := range slices.Chunk(wanted, 500) {
		hashes := make([][]byte, len(batch))
		for i := range batch {
			hashes[i] = batch[i][:]
		}
		rows, err := m.db.NewSelect().TableExpr("?", m.tables.vectors).ColumnExpr("text_hash, "+m.vectorColumn()).
			Where("tenant = ?", tenant).Where("text_hash IN (?)", bun.List(hashes)).Rows(ctx)
		if err != nil {
			return nil, m.knowledge.failed(ctx, "read vectors", err)
		}
		if err := m.scanVectors(rows, found); err != nil {
			return nil, m.knowledge.failed(ctx, "read vectors", err)
		}
	}
	return found, nil
}

// Write implements [events.Change]: it replaces the pieces of the items, in one round trip.
func (e *embedded) Write(ctx context.Context, tx bun.IDB) error {
	tables, script := e.meaning.tables, &script{engine: e.meaning.db.Engine}
	if len(e.numbers) > 0 {
		script.add(tx.NewDelete().TableExpr("?", tables.pieces).
			Where("tenant = ?", e.tenant).Where("number IN (?)", bun.List(e.numbers)))
	}
	if len(e.fresh) > 0 {
		script.add(e.meaning.insertVectors(tx, e.tenant, e.fresh, e.vectors))
	}
	var made [][]any
	for i := range e.pieces {
		p := &e.pieces[i]
		p.sketch = embedding.Sketch(e.vectors[p.hash])
		bits := bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(p.sketch)) + "'")
		for _, scope := range p.scopes {
			made = append(made, []any{e.tenant, string(scope), p.number, p.index, p.hash[:], bits})
		}
	}
	if len(made) > 0 {
		script.add(tx.NewRaw("INSERT INTO ? (tenant, scope, number, piece, text_hash, sketch) VALUES ? ON CONFLICT DO NOTHING",
			tables.pieces, tuples(made)))
	}
	return script.run(ctx, tx)
}

// Done implements [events.Change]: searches in memory learn of it when it is committed.
func (e *embedded) Done() { e.meaning.nearest.update(e) }

// vectorValue is a vector as its column wants it.
func (m *Meaning) vectorValue(v []float32) any {
	if m.db.Engine == database.Postgres {
		return vectorText(v)
	}
	return embedding.Encode(v)
}
