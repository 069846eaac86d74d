package browse_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// TestALargeTenant loads many items once, since that takes a while.
func TestALargeTenant(t *testing.T) {
	databasetest.Slow(t)
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, listener := newLoadedWorld(t, db)
		w.Understand()
		on := func(test func(*World, *Statements)) func(*testing.T) {
			return func(t *testing.T) {
				w := *w
				w.T = t
				test(&w, listener)
			}
		}
		t.Run("is found by its sketches", on(findsBySketches))
		t.Run("is found behind filters", on(findsWhatPasses))
		if db.Engine == database.SQLite {
			t.Run("is not read from end to end", on(readsLittleOfSQLite))
			return
		}
		t.Run("is not read from end to end", on(readsLittleOfPostgreSQL))
		t.Run("is not read from end to end, vacuumed", func(t *testing.T) {
			w.Exec("VACUUM ANALYZE")
			on(readsLittleOfPostgreSQL)(t)
		})
		t.Run("is not read from end to end behind the wall", func(t *testing.T) {
			served, listener := behindTheWall(w, t)
			readsLittle(served, listener)
			findsBySketches(served, listener)
		})
	})
}

func findsBySketches(w *World, _ *Statements) {
	for _, context := range []domain.Context{acme, Pay, {}} {
		if recall := recall(w, context); recall < 0.95 { // a sketch has no more than 64 bits here
			w.T.Errorf("recall %.3f in %v, want 0.95", recall, context.Entities)
		}
	}
}

// acme is the context of the broadest scope.
var acme = domain.Context{Given: true, Entities: []domain.Entity{"org:acme"}}

// recall is how many of the ten nearest are found, over some questions that say nothing.
func recall(w *World, context domain.Context) float64 {
	w.T.Helper()
	vectors := loadedVectors()
	questions, _ := Tiny{}.Embed(w.T.Context(), []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
		embedding.Query)
	found := 0
	for _, question := range questions {
		s := Must(domain.Search{
			By: w.By, Vector: question, Context: context, MinScore: new(float64),
			Order: domain.ByScore,
		}.Complete())(w.T)
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
		answered := w.Find(s)
		for _, n := range all[:10] {
			if slices.Contains(answered, n.id) {
				found++
			}
		}
	}
	return float64(found) / float64(10*len(questions))
}

// many is how many items load makes.
const many = 20_000

// loadedVectors are the vectors of the loaded items, in their order.
var loadedVectors = sync.OnceValue(func() [][]float32 {
	texts := make([]string, many)
	for i := range upTo(many) {
		texts[i-1] = said(i)
	}
	vectors, _ := Tiny{}.Embed(context.Background(), texts, embedding.Document)
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
func load(w *World) {
	w.T.Helper()
	if w.DB.Engine == database.Postgres {
		for _, table := range []string{
			"knowledge_1", "knowledge_1_blocks", "knowledge_1_votes", "knowledge_1_reports", "meaning_2", "vectors_2",
		} { // nobody else is to look at them
			w.Exec("ALTER TABLE " + table + " SET (autovacuum_enabled = false)")
		}
	}
	for chunk := range slices.Chunk(slices.Collect(upTo(many)), 1000) {
		NoError(w.T, w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
			return errors.Join(loadItems(ctx, w, tx, chunk), loadMeaning(ctx, w, tx, chunk))
		}))
	}
	w.Base.Indexer.MaxChanges = 0
	for range 200 {
		NoError(w.T, w.Base.Indexer.IndexWords(w.T.Context()))
	}
}

// loadItems loads items with a vote and a report each, and their terms as changes.
func loadItems(ctx context.Context, w *World, tx bun.Tx, numbers []int) error {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var items, votes, reports, changes [][]any
	for _, i := range numbers {
		k := &domain.Knowledge{
			ID: idOf(i), Number: int64(i), Scopes: []domain.Scope{scopeOf(i)}, Owner: "org:acme",
			Class: domain.Class{
				Type: domain.Strategy, ContextType: domain.Memory, Polarity: domain.Positive, Media: "text",
			},
			Standing: domain.Standing{Status: domain.Active}, Text: domain.Text{Content: said(i), URI: "viking://x/" + idOf(i)},
			Helpful: 1, Confidence: 0.5, ExpiredConfidence: 0.5, Revision: 1, Version: 1, Position: int64(i),
			CreatedAt: at, UpdatedAt: at,
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
		items = append(items, RowOf(w.By.Tenant, k, 20))
		votes = append(votes, rows.VoteRowOf(w.By.Tenant, k.ID, domain.Vote{
			EventID: eventOf(i), Voter: "user:alice", Ballot: "trace:t", Verdict: domain.Helpful, TraceID: "t", At: at,
		}).Values())
		reports = append(reports, rows.ReportRowOf(w.By.Tenant, k.ID, domain.Report{
			EventID: eventOf(i), Reporter: "user:bob", At: at,
		}).Values())
		changes = append(changes, []any{w.By.Tenant, k.Number, k.Version, []byte(nil), entry.Encode()})
	}
	script := &rows.Script{Engine: w.DB.Engine}
	script.InsertRows("knowledge_1", rows.KnowledgeColumns, items, "")
	script.InsertRows("knowledge_1_votes", rows.VotesColumns, votes, "")
	script.InsertRows("knowledge_1_reports", rows.ReportsColumns, reports, "")
	script.InsertRows("knowledge_1_changes", rows.ChangesColumns, changes, "")
	return script.Execute(ctx, tx)
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

func idOf(i int) string { return fmt.Sprint("i", i) }

// said is what a loaded item says.
func said(i int) string { return fmt.Sprint("item ", i) }

// eventOf is the id of a loaded item's vote.
func eventOf(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i) }

func loadMeaning(ctx context.Context, w *World, tx bun.Tx, numbers []int) error {
	var vectors, pieces [][]any
	for _, i := range numbers {
		made := loadedVectors()[i-1]
		name := sha256.Sum256([]byte(said(i)))
		var vector any = embedding.Encode(made)
		if w.DB.Engine == database.Postgres {
			vector = pgvector.NewHalfVector(made).String()
		}
		vectors = append(vectors, []any{w.By.Tenant, name[:], vector})
		sketch := bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(embedding.Sketch(made))) + "'")
		pieces = append(pieces, []any{w.By.Tenant, "", i, 0, name[:], sketch})
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO vectors_2 (tenant, text_hash, vector) VALUES ?",
		tuples(vectors)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx,
		"INSERT INTO meaning_2 (tenant, scope, number, piece, text_hash, sketch) VALUES ?", tuples(pieces))
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

// Narrow are filters over the loaded items: what few pass, what most do, and what nothing does.
var Narrow = []struct {
	name   string
	filter domain.Filter
	passes func(i int) bool
}{
	{"one in two", domain.Filter{URIPrefix: "viking://x/i1"}, begins("i1")},
	{"one in eighteen", domain.Filter{URIPrefix: "viking://x/i12"}, begins("i12")},
	{"one in fifty", domain.Filter{Owner: "user:alice"}, func(i int) bool { return i%50 == 0 }},
	{"one in two hundred", domain.Filter{URIPrefix: "viking://x/i123"}, begins("i123")},
	{"three", domain.Filter{URIPrefix: "viking://x/i7777"}, begins("i7777")},
	{"nothing", domain.Filter{Tags: domain.Tags{"none": nil}}, func(int) bool { return false }},
}

func begins(prefix string) func(int) bool {
	return func(i int) bool { return strings.HasPrefix(idOf(i), prefix) }
}

// findsWhatPasses holds filtered searches against a ranking of everything that passes.
func findsWhatPasses(w *World, _ *Statements) {
	questions, _ := Tiny{}.Embed(w.T.Context(), []string{"a", "b", "c", "d", "e"}, embedding.Query)
	for _, n := range Narrow {
		candidates := make([][]domain.Candidate, len(questions))
		for i, question := range questions {
			candidates[i] = passing(n.passes, question)
		}
		for _, context := range []domain.Context{acme, Pay, {}} {
			for _, order := range []domain.Order{domain.ByScore, domain.ByPriority} {
				found, wanted := 0, 0
				for i, question := range questions {
					s := Must(domain.Search{
						Everyone: true, Copies: true,
						By: w.By, Vector: question, Context: context, Filter: n.filter, MinScore: new(float64), Order: order,
					}.Complete())(w.T)
					ranked := domain.Rank(candidates[i], s.Audience(), order, 0, many)
					got := w.Find(s)
					if !inOrder(got, ranked) {
						w.T.Errorf("%s, %v, %s: %v is not the order of %v", n.name, context.Entities, order, got,
							ranked[:min(20, len(ranked))])
					}
					best := ranked[:min(10, len(ranked))]
					wanted += len(best)
					for _, hit := range best {
						if slices.Contains(got, hit.ID) {
							found++
						}
					}
				}
				if float64(found) < 0.95*float64(wanted) { // a sketch has no more than 64 bits here
					w.T.Errorf("%s, %v, %s: found %d of %d", n.name, context.Entities, order, found, wanted)
				}
			}
		}
	}
}

// passing are the loaded items that pass, compared with a question.
func passing(passes func(int) bool, question []float32) (candidates []domain.Candidate) {
	calibration, vectors := Tiny{}.Calibration(), loadedVectors()
	for i := range upTo(many) {
		if passes(i) {
			score := calibration.Score(embedding.Cosine(vectors[i-1], question))
			candidates = append(candidates, domain.Candidate{
				ID: idOf(i), Scopes: []domain.Scope{scopeOf(i)}, Confidence: 0.5, Position: int64(i), Score: score, Semantic: score,
			})
		}
	}
	return candidates
}

// inOrder tells whether all that was found stands in a ranking, in the same order. Those that nothing but
// the digits which an engine keeps of a vector tells apart may change places.
func inOrder(found []string, ranked []domain.Hit) bool {
	const digits = 0.002
	last := 0
	for _, id := range found {
		at := slices.IndexFunc(ranked, func(hit domain.Hit) bool { return hit.ID == id })
		if at < 0 || at < last && ranked[at].Score-ranked[last].Score > digits {
			return false
		}
		last = max(last, at)
	}
	return true
}

// behindTheWall is the same world as it is served by a role that sees the tenant's rows alone.
func behindTheWall(w *World, t *testing.T) (*World, *Statements) {
	t.Helper()
	address := Must(url.Parse(databasetest.LetServe(t, w.DB)))(t)
	query := address.Query()
	query.Set("options", "-c annals.tenant="+w.By.Tenant) // whatever the context says
	address.RawQuery = query.Encode()
	db, listener := databasetest.Open(t, address.String()), &Statements{}
	db.DB = db.WithQueryHook(listener)
	other := NewWorld(t, db, projections.Settings{Embedder: Tiny{}})
	other.By = w.By
	return other, listener
}
