package projections_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// TestALargeTenant loads many items once, since that takes a while.
func TestALargeTenant(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, listener := newLoadedWorld(t, db)
		w.understand()
		on := func(test func(*world, *statements)) func(*testing.T) {
			return func(t *testing.T) {
				w := *w
				w.t = t
				test(&w, listener)
			}
		}
		t.Run("is found by its sketches", on((*world).findsBySketches))
		t.Run("is found behind filters", on((*world).findsWhatPasses))
		if db.Engine == database.SQLite {
			t.Run("is not read from end to end", on((*world).readsLittleOfSQLite))
			return
		}
		t.Run("is not read from end to end", on((*world).readsLittleOfPostgreSQL))
		t.Run("is not read from end to end, vacuumed", func(t *testing.T) {
			w.exec("VACUUM ANALYZE")
			on((*world).readsLittleOfPostgreSQL)(t)
		})
		t.Run("is not read from end to end behind the wall", func(t *testing.T) {
			served, listener := w.served(t)
			served.readsLittle(listener)
			served.findsBySketches(listener)
		})
	})
}

func (w *world) findsBySketches(*statements) {
	for _, context := range []domain.Context{acme, pay, {}} {
		if recall := w.recall(context); recall < 0.95 { // a sketch has no more than 64 bits here
			w.t.Errorf("recall %.3f in %v, want 0.95", recall, context.Entities)
		}
	}
}

// acme is the context of the broadest scope.
var acme = domain.Context{Given: true, Entities: []domain.Entity{"org:acme"}}

// recall is how many of the ten nearest are found, over some questions that say nothing.
func (w *world) recall(context domain.Context) float64 {
	w.t.Helper()
	vectors := loadedVectors()
	questions, _ := tiny{}.Embed(w.t.Context(), []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
		embedding.Query)
	found := 0
	for _, question := range questions {
		s := must(domain.Search{
			By: w.by, Vector: question, Context: context, MinScore: new(float64),
			Order: domain.ByScore,
		}.Complete())(w.t)
		type near struct {
			id     string
			cosine float64
		}
		var all []near
		for i := range upTo(many) {
			if _, seen := s.Audience().Best([]domain.Scope{scopeOf(i)}); seen {
				all = append(all, near{idOf(i), embedding.Cosine(vectors[i-1], question)})
			}
		}
		slices.SortFunc(all, func(a, b near) int { return cmp.Compare(b.cosine, a.cosine) })
		answered := w.find(s)
		for _, n := range all[:10] {
			if slices.Contains(answered, n.id) {
				found++
			}
		}
	}
	return float64(found) / float64(10*len(questions))
}

// tiny is an embedder of few dimensions, so that many vectors are soon made. What texts say does not
// matter; each is about one of two hundred topics.
type tiny struct{}

var _ embedding.Embedder = tiny{}

func (tiny) Name() string { return "test:tiny:32" }
func (tiny) Dims() int    { return 32 }

func (tiny) Calibration() embedding.Calibration {
	return embedding.Calibration{Midpoint: 0.5, Slope: 5, Weight: 0.5}
}

func (tiny) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		hash := fnv.New64a()
		hash.Write([]byte(text))
		topic, own := rand.New(rand.NewPCG(hash.Sum64()%200, 1)), rand.New(rand.NewPCG(hash.Sum64(), 2))
		for range 32 {
			vectors[i] = append(vectors[i], float32(topic.NormFloat64()+own.NormFloat64()/2))
		}
		if err := embedding.Normalize(vectors[i]); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// many is how many items [world.load] makes.
const many = 20_000

// loadedVectors are the vectors of the loaded items, in their order.
var loadedVectors = sync.OnceValue(func() [][]float32 {
	texts := make([]string, many)
	for i := range upTo(many) {
		texts[i-1] = said(i)
	}
	vectors, _ := tiny{}.Embed(context.Background(), texts, embedding.Document)
	return vectors
})

// scopeOf is the one scope of a loaded item: few are a user's, a quarter the team's, the others the
// organisation's.
func scopeOf(i int) domain.Scope {
	switch {
	case i%100 == 0:
		return "user:alice"
	case i%4 == 1:
		return "team:pay"
	default:
		return "org:acme"
	}
}

// load writes many items into the tables themselves: sooner than a log would. Every other one says
// "server", one in 500 "tomato".
func (w *world) load() {
	w.t.Helper()
	load := func(ctx context.Context, tx bun.Tx) error {
		for _, statement := range []string{loadedKnowledge, loadedVotes, loadedReports} {
			if _, err := tx.ExecContext(ctx, w.loading(statement)); err != nil {
				return fmt.Errorf("%w in %s", err, statement)
			}
		}
		for chunk := range slices.Chunk(slices.Collect(upTo(many)), 1000) {
			if err := w.loadWords(ctx, tx, chunk); err != nil {
				return err
			}
			if err := w.loadMeaning(ctx, tx, chunk); err != nil {
				return err
			}
		}
		return nil
	}
	if w.db.Engine == database.Postgres {
		for _, table := range loadedTables { // nobody else is to look at them
			w.exec("ALTER TABLE " + table + " SET (autovacuum_enabled = false)")
		}
	}
	noError(w.t, w.db.Transact(w.t.Context(), load))
	w.base.Indexer.MaxChanges = 0
	for range 200 {
		noError(w.t, w.base.Indexer.IndexWords(w.t.Context()))
	}
}

// loadWords loads the terms of items as changes.
func (w *world) loadWords(ctx context.Context, tx bun.Tx, numbers []int) error {
	script := &rows.Script{Engine: w.db.Engine}
	var changes [][]any
	for _, i := range numbers {
		k := &domain.Knowledge{
			ID: idOf(i), Scopes: []domain.Scope{scopeOf(i)}, Standing: domain.Standing{Status: domain.Active},
			Class: domain.Class{Type: "strategy", ContextType: "memory", Polarity: "positive"}, Owner: "org:acme",
		}
		if i%50 == 0 {
			k.Owner = "user:alice"
		}
		terms := []string{fmt.Sprint("a", i%1000), fmt.Sprint("b", i%300)}
		if i%2 == 0 {
			terms = append(terms, "server")
		}
		if i%500 == 1 {
			terms = append(terms, "tomato", "tomato")
		}
		entry := words.Entry{ItemTerms: words.ItemTerms{Words: 20, PackedTerms: words.PackTerms(terms)}, Sets: words.SetsOf(k)}
		changes = append(changes, []any{"default", int64(i), int64(1), []byte(nil), entry.Encode()})
	}
	script.InsertRows("knowledge_1_changes", rows.ChangesColumns, changes, "")
	return script.Execute(ctx, tx)
}

// loading is a statement over the items to load, in the engine's own words.
func (w *world) loading(statement string) string {
	scopes, event := `'["' || scope || '"]'`, `'00000000-0000-7000-8000-' || printf('%012d', i)`
	into, from, _ := strings.Cut(statement, "SELECT")
	if w.db.Engine == database.Postgres {
		scopes, event = `CAST('["' || scope || '"]' AS json)`,
			`CAST('00000000-0000-7000-8000-' || lpad(i::text, 12, '0') AS uuid)`
	}
	return into + loaded + "SELECT" + strings.NewReplacer(
		"@scopes", scopes, "@event", event).Replace(from)
}

var loadedTables = []string{
	"knowledge_1", "knowledge_1_blocks", "knowledge_1_votes", "knowledge_1_reports",
	"meaning_1", "vectors_1",
}

func upTo(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 1; i <= n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

const (
	loaded = `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000),
		item (i, id, scope) AS (
			SELECT i, 'i' || i, CASE WHEN i % 100 = 0 THEN 'user:alice' WHEN i % 4 = 1 THEN 'team:pay' ELSE 'org:acme' END
			FROM n
		)`
	loadedKnowledge = `
		INSERT INTO knowledge_1 (
			tenant, id, number, type, context_type, category, polarity, media, owner, visibility, status, superseded_by,
			held, uri, task, content, abstract, overview, tags, source, trace_id, scopes, baseline, derived_from, words,
			helpful, harmful, confidence, stale_reporters, stale_reason,
			suspended_reporters, suspended_reason, expired_confidence, revision, version, position, created_at, updated_at)
		SELECT 'default', id, i, 'strategy', 'memory', '', 'positive', 'text',
			CASE WHEN i % 50 = 0 THEN 'user:alice' ELSE 'org:acme' END,
			'shared', 'active', '', false, 'viking://x/' || id, '', 'item ' || i, '', '', '{}', '{}', '',
			@scopes, '{}', '[]', 20,
			1, 0, 0.5, 0, '', 0, '', 0.5, 1, 1, i, '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'
		FROM item`
	loadedReports = `
		INSERT INTO knowledge_1_reports (tenant, id, reporter, event_id, reason, at, suspended)
		SELECT 'default', id, 'user:bob', @event, '', '2026-01-01T00:00:00.000000Z', false FROM item`
	loadedVotes = `
		INSERT INTO knowledge_1_votes (tenant, id, event_id, voter, ballot, verdict, trace_id, query, outcome, at)
		SELECT 'default', id, @event, 'user:alice', 'trace:t', 'helpful', 't', '', '', '2026-01-01T00:00:00.000000Z'
		FROM item`
)

func idOf(i int) string { return fmt.Sprint("i", i) }

// said is what a loaded item says.
func said(i int) string { return fmt.Sprint("item ", i) }

// eventOf is the id of a loaded item's vote.
func eventOf(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i) }

func (w *world) loadMeaning(ctx context.Context, tx bun.Tx, numbers []int) error {
	var vectors, pieces [][]any
	for _, i := range numbers {
		made := loadedVectors()[i-1]
		name := sha256.Sum256([]byte(said(i)))
		var vector any = embedding.Encode(made)
		if w.db.Engine == database.Postgres {
			vector = pgvector.NewHalfVector(made).String()
		}
		vectors = append(vectors, []any{w.by.Tenant, name[:], vector})
		sketch := bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(embedding.Sketch(made))) + "'")
		pieces = append(pieces, []any{w.by.Tenant, "", i, 0, name[:], sketch})
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO vectors_1 (tenant, text_hash, vector) VALUES ?",
		tuples(vectors)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx,
		"INSERT INTO meaning_1 (tenant, scope, number, piece, text_hash, sketch) VALUES ?", tuples(pieces))
	return err
}

// tuples writes rows as SQL does after VALUES.
func tuples(rows [][]any) bun.ListValues {
	values := make([]bun.TupleValues, len(rows))
	for i, row := range rows {
		values[i] = bun.Tuple(row)
	}
	return bun.List(values)
}
