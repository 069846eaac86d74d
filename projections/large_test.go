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
		t.Run("is found in memory", on((*world).findsInMemory))
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

func (w *world) findsInMemory(listener *statements) {
	w.holdSketches()
	for _, query := range listener.during(func() { w.search(domain.Search{Text: "anything", Context: acme}) }) {
		if strings.Contains(query.text, "<~>") {
			w.t.Errorf("in memory: the database scanned sketches: %s", query.text)
		}
	}
	w.findsBySketches(listener)
	w.findsWhatPasses(listener)
	w.readsLittle(listener, "meaning_1_pkey")
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
