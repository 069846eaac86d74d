package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
)

// Projection is the background projection of vectors. It follows the log, lets the embedder turn new and changed
// texts into vectors, and finds the nearest ones to a question. It is safe for concurrent use.
type Projection struct {
	catalogue *catalogue.Catalogue
	db        *database.DB
	Tables    Tables
	Embedder  embedding.Embedder
	Cache     *IndexCache
	analyzer  *analyzer
	asked     *atomic.Int64    // when somebody searched last, in nanoseconds since 1970, by any model
	follower  *message.Handler // nil while it follows no log
	following <-chan struct{}  // closed when the follower can be stopped, which is later than it says itself
	failure   atomic.Value     // why the model did not embed the last question, a string; empty if it did
}

func newMeaning(
	c *catalogue.Catalogue, tables Tables, embedder embedding.Embedder, sketchMemory int, asked *atomic.Int64,
) *Projection {
	return &Projection{
		asked: asked, catalogue: c, db: c.DB, Tables: tables, Embedder: embedder, Cache: NewIndexCache(sketchMemory),
		analyzer: &analyzer{catalogue: c},
	}
}

// Name is the name under which the projection keeps its checkpoints.
func (m *Projection) Name() string { return m.Tables.checkpoint() }

// Follow lets the projection follow the log as a handler of the router.
func (m *Projection) Follow(router *message.Router, followers *follow.Followers) {
	m.follower, m.following = follow.AddPreparer(router, followers, m.Name(), m.Prepare), router.Running()
}

// maxPieceTokens is how much text goes into one vector.
const maxPieceTokens = 2000

// Hash names a text: SHA-256 of its bytes.
type Hash = [sha256.Size]byte

// Piece is a part of an item's text that has a vector of its own.
type Piece struct {
	number int64
	Index  int
	scopes []domain.Scope
	text   string
	Hash   Hash
	sketch []uint64
}

// Pieces cuts an item's content into pieces. Its task and abstract precede each piece, so that the model knows the
// context.
func Pieces(k *domain.Knowledge) []Piece {
	if strings.TrimSpace(k.Text.Content) == "" { // there is no text to embed
		return nil
	}
	var list []Piece
	for i, part := range text.Pieces(k.Text.Content, maxPieceTokens) {
		content := part
		for _, before := range []string{k.Text.Abstract, k.Text.Task} {
			if before != "" {
				content = before + "\n" + content
			}
		}
		list = append(list, Piece{
			number: k.Number, Index: i, scopes: k.Scopes, text: content, Hash: sha256.Sum256([]byte(content)),
		})
	}
	return list
}

// embedded is what a page of events changes: the current pieces of the items concerned.
type embedded struct {
	meaning *Projection
	tenant  string
	after   int64   // the page begins after this position
	through int64   // and ends with this one
	turns   int64   // as in [follow.Page.OrderChanges]; negative if unknown
	late    bool    // as in [follow.Page.Late]
	numbers []int64 // the items, whose earlier pieces are replaced
	texts   []int64 // those of them whose text may have changed
	pieces  []Piece
	vectors map[Hash][]float32
	fresh   []Hash // of the vectors that the database does not have yet
}

// Prepare does the slow part of following a page of events: it reads the items concerned as they are now, and embeds
// texts without a vector. The result is written in the transaction that moves the checkpoint. The error matches
// [embedding.ErrUnavailable] while the model is down.
func (m *Projection) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	m.analyzer.run(ctx, m.Tables.pieces, m.Tables.Vectors)
	e := &embedded{meaning: m, tenant: page.Tenant, turns: -1, late: page.Late()}
	if turns, counted := page.OrderChanges(); counted {
		e.turns = turns
	}
	if len(page.Events) > 0 {
		e.after, e.through = page.After, page.Last().Position
	}
	ids, texts := touched(page.Events)
	if len(ids) == 0 {
		return e, nil
	}
	mark, err := events.Erasures(ctx, m.db, e.tenant)
	if err != nil {
		return nil, err
	}
	err = rows.ScanAll(ctx, rows.Select(m.db).ModelTableExpr("? AS k", m.catalogue.Active().Tables.Knowledge).
		Where("tenant = ?", e.tenant).Where("id IN (?)", bun.List(ids)), func(r *rows.Row) {
		e.numbers = append(e.numbers, r.Number)
		if texts[r.ID] {
			e.texts = append(e.texts, r.Number)
		}
		if rows.IsLive(&r.Knowledge) {
			e.pieces = append(e.pieces, Pieces(&r.Knowledge)...)
		}
	})
	if err != nil {
		return nil, rows.Failed(ctx, "read what to embed", err)
	}
	e.pieces = slices.DeleteFunc(e.pieces, func(p Piece) bool { return !embedding.Reads(ctx, m.Embedder, p.text) })
	e.vectors, e.fresh, err = m.vectors(ctx, e.tenant, e.pieces, mark)
	return e, err
}

// touched are the items whose vectors or audience may have changed, and those of them whose vectors may have.
func touched(page []domain.Event) (ids []string, texts map[string]bool) {
	seen, texts := rows.Set{}, map[string]bool{}
	for _, event := range page {
		id, found := domain.ItemOf(event.Stream)
		if !found {
			continue
		}
		switch event.Fact.(type) {
		case domain.Rescoped:
			seen.Add(&ids, id)
		case domain.Remembered, domain.Revised, domain.Superseded, domain.Deleted, domain.Restored, domain.Redacted,
			domain.Erased, domain.Accepted, domain.ItemQuarantined, domain.Readmitted:
			seen.Add(&ids, id)
			texts[id] = true
		}
	}
	return ids, texts
}

// vectors returns the vectors of pieces: stored ones, and new ones from the embedder.
func (m *Projection) vectors(
	ctx context.Context, tenant string, wanted []Piece, mark int64,
) (all map[Hash][]float32, fresh []Hash, err error) {
	hashes := make([]Hash, len(wanted))
	for i := range wanted {
		hashes[i] = wanted[i].Hash
	}
	all, err = m.stored(ctx, tenant, hashes)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	seen := map[Hash]bool{}
	for _, p := range wanted {
		if _, stored := all[p.Hash]; stored || seen[p.Hash] {
			continue
		}
		seen[p.Hash] = true
		texts, fresh = append(texts, p.text), append(fresh, p.Hash)
	}
	if len(texts) == 0 {
		return all, nil, nil
	}
	for {
		request := embedding.Request(m.Embedder, texts)
		made, err := m.embed(ctx, request)
		if errors.Is(err, embedding.ErrText) || m.isOfTexts(ctx, err) {
			return nil, nil, fmt.Errorf("embed %d texts, while the model takes others: %w", len(texts), err)
		}
		if err != nil { // such as a wrong key or a model that is down: the texts are not the cause
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

// searchPause is how long after a search other processors stay free for the next one.
const searchPause = time.Second

// embed embeds texts. An embedder of this machine embeds them on all processors while nobody searches, and on one
// otherwise.
func (m *Projection) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if !embedding.IsLocal(m.Embedder) {
		return m.Embedder.Embed(ctx, texts, embedding.Document)
	}
	made := make([][]float32, len(texts))
	var next atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	for worker := range min(runtime.GOMAXPROCS(0), len(texts)) {
		work.Go(func() error {
			for worker == 0 || time.Since(time.Unix(0, m.asked.Load())) > searchPause {
				i := int(next.Add(1)) - 1
				if i >= len(texts) {
					break
				}
				one, err := m.Embedder.Embed(ctx, texts[i:i+1], embedding.Document)
				if err != nil {
					return err
				}
				made[i] = one[0]
			}
			return nil
		})
	}
	return made, work.Wait()
}

// isOfTexts tells whether texts make the model fail: it takes another text. The follower then looks for the text.
func (m *Projection) isOfTexts(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, embedding.ErrRefused) || errors.Is(err, embedding.ErrQuota) {
		return false
	}
	_, err = m.Embedder.Embed(ctx, []string{"annals"}, embedding.Document)
	return err == nil
}

// keep writes the vectors of one request before the next request, so that no text is embedded twice. The vectors of
// the last request are written with the page. If texts were erased since mark, it writes nothing, and the page will
// not be written either.
func (m *Projection) keep(
	ctx context.Context, tenant string, made []Hash, vectors map[Hash][]float32, mark int64,
) error {
	err := m.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		now, err := events.ShareTexts(ctx, tx, tenant)
		if err != nil || now != mark {
			return err
		}
		_, err = tx.ExecContext(ctx, m.insertVectors(tx, tenant, made, vectors).String())
		return err
	})
	if err != nil {
		return rows.Failed(ctx, "keep vectors", err)
	}
	return nil
}

func (m *Projection) insertVectors(tx bun.IDB, tenant string, made []Hash, vectors map[Hash][]float32) *bun.RawQuery {
	list := make([][]any, len(made))
	for i, h := range made {
		list[i] = []any{tenant, h[:], m.vectorValue(vectors[h])}
	}
	return tx.NewRaw(
		"INSERT INTO ? (tenant, text_hash, vector) VALUES ? ON CONFLICT DO NOTHING", m.Tables.Vectors, rows.Tuples(list),
	)
}

func (m *Projection) stored(ctx context.Context, tenant string, wanted []Hash) (map[Hash][]float32, error) {
	found := make(map[Hash][]float32, len(wanted))
	for batch := range slices.Chunk(wanted, 500) {
		hashes := make([][]byte, len(batch))
		for i := range batch {
			hashes[i] = batch[i][:]
		}
		query := m.db.NewSelect().TableExpr("?", m.Tables.Vectors).ColumnExpr("text_hash, "+m.vectorColumn()).
			Where("tenant = ?", tenant).Where("text_hash IN (?)", bun.List(hashes)).String()
		if m.db.Engine == database.Postgres { // it looks every text up by its key, whatever statistics it has
			query = "SET LOCAL enable_seqscan = off;\n" + query
		}
		list, err := m.db.QueryContext(ctx, query)
		if err != nil {
			return nil, rows.Failed(ctx, "read vectors", err)
		}
		if err := m.scanVectors(list, found); err != nil {
			return nil, rows.Failed(ctx, "read vectors", err)
		}
	}
	return found, nil
}

// Write implements [follow.Change]: it replaces the pieces of the items, in one round trip. Tables of earlier versions
// have a row for each scope of a piece. Now the scope is empty.
func (e *embedded) Write(ctx context.Context, tx bun.IDB) error {
	tables, script := e.meaning.Tables, &rows.Script{Engine: e.meaning.db.Engine}
	if len(e.texts) > 0 {
		script.AddQuery(tx.NewDelete().TableExpr("?", tables.pieces).
			Where("tenant = ?", e.tenant).Where("number IN (?)", bun.List(e.texts)))
	}
	if len(e.fresh) > 0 {
		script.AddQuery(e.meaning.insertVectors(tx, e.tenant, e.fresh, e.vectors))
	}
	var made [][]any
	for i := range e.pieces {
		p := &e.pieces[i]
		p.sketch = embedding.Sketch(e.vectors[p.Hash])
		bits := bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(p.sketch)) + "'")
		made = append(made, []any{e.tenant, "", p.number, p.Index, p.Hash[:], bits})
	}
	if len(made) > 0 {
		script.AddQuery(tx.NewRaw(
			"INSERT INTO ? (tenant, scope, number, piece, text_hash, sketch) VALUES ? ON CONFLICT DO NOTHING",
			tables.pieces, rows.Tuples(made),
		))
	}
	return script.Execute(ctx, tx)
}

// Done implements [follow.Change]: it updates indexes in memory after the commit.
func (e *embedded) Done() { e.meaning.Cache.update(e) }

// vectorValue is a vector as a column value.
func (m *Projection) vectorValue(v []float32) any {
	if m.db.Engine == database.Postgres {
		return pgvector.NewHalfVector(v)
	}
	return embedding.Encode(v)
}
