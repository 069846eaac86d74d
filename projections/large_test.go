package projections_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// TestALargeTenant loads many items once, since that takes a while.
func TestALargeTenant(t *testing.T) {
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
		if db.Engine == database.SQLite {
			t.Run("is found behind filters", on((*world).findsWhatPasses))
		}
		if db.Engine == database.SQLite {
			t.Run("is not read from end to end", on((*world).readsLittleOfSQLite))
			return
		}
		t.Run("is not read from end to end", on((*world).readsLittleOfPostgreSQL))
		t.Run("is not read from end to end, vacuumed", func(t *testing.T) {
			w.exec("VACUUM ANALYZE")
			on((*world).readsLittleOfPostgreSQL)(t)
		})
		t.Run("is found through the graph", on((*world).findsThroughGraph))
		t.Run("is found in memory", on((*world).findsInMemory))
		t.Run("is not read from end to end behind the wall", func(t *testing.T) {
			served, listener := w.served(t)
			served.readsLittle(listener)
			served.findsBySketches(listener)
			if used, inPlan := served.planOf(acme, listener); used != "hnsw" || !inPlan {
				t.Errorf("plan %q, index %v", used, inPlan)
			}
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

func (w *world) findsThroughGraph(listener *statements) {
	if used, inPlan := w.planOf(acme, listener); used != "sketch" || inPlan {
		w.t.Errorf("without a graph: plan %q, index %v", used, inPlan)
	}
	for range 2 { // the second time there is nothing to do
		if err := w.base.Meaning().BuildGraph(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	if used, inPlan := w.planOf(acme, listener); used != "hnsw" || !inPlan {
		w.t.Errorf("with a graph: plan %q, index %v", used, inPlan)
	}
	if recall := w.recall(acme); recall < 0.99 {
		w.t.Errorf("recall %.3f through the graph, want 0.99", recall)
	}
}

func (w *world) findsInMemory(listener *statements) {
	w.holdSketches()
	if used, inPlan := w.planOf(acme, listener); used != "sketch" || inPlan {
		w.t.Errorf("in memory: plan %q, index %v", used, inPlan)
	}
	w.findsBySketches(listener)
	w.findsWhatPasses(listener)
	w.readsLittle(listener, "meaning_1_pkey")
}

// planOf is how vectors are searched, as the answer says and as PostgreSQL does.
func (w *world) planOf(context domain.Context, listener *statements) (used string, inPlan bool) {
	w.t.Helper()
	queries := listener.during(func() {
		answer := w.search(domain.Search{Text: "anything", Explain: true, Context: context})
		used = answer.Explain.Plans[len(answer.Explain.Plans)-1].Plan
	})
	for _, query := range queries {
		if strings.Contains(query.text, "<~>") {
			nodes, _ := w.explained(query)
			inPlan = inPlan || slices.ContainsFunc(nodes, func(n *node) bool { return strings.HasPrefix(n.Index, "meaning_1_graph_") })
		}
	}
	return used, inPlan
}

// acme is the context of the broadest scope.
var acme = domain.Context{Given: true, Entities: []domain.Entity{"org:acme"}}

// recall is how many of the ten nearest are found, over some questions that say nothing.
func (w *world) recall(context domain.Context) float64 {
	w.t.Helper()
	items := make([]string, many)
	for i := range upTo(many) {
		items[i-1] = said(i)
	}
	vectors, _ := tiny{}.Embed(w.t.Context(), items, embedding.Document)
	questions, _ := tiny{}.Embed(w.t.Context(), []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, embedding.Query)
	found := 0
	for _, question := range questions {
		s, err := domain.Search{By: w.by, Vector: question, Context: context, MinScore: new(float64), Order: domain.ByScore}.Complete()
		if err != nil {
			w.t.Fatal(err)
		}
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
