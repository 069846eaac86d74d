package projections_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

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
func (w *world) findsWhatPasses(*statements) {
	questions, _ := tiny{}.Embed(w.t.Context(), []string{"a", "b", "c", "d", "e"}, embedding.Query)
	for _, n := range Narrow {
		candidates := make([][]domain.Candidate, len(questions))
		for i, question := range questions {
			candidates[i] = passing(n.passes, question)
		}
		for _, context := range []domain.Context{acme, pay, {}} {
			for _, order := range []domain.Order{domain.ByScore, domain.ByPriority} {
				found, wanted := 0, 0
				for i, question := range questions {
					s := must(domain.Search{
						By: w.by, Vector: question, Context: context, Filter: n.filter, MinScore: new(float64), Order: order,
					}.Complete())(w.t)
					ranked := domain.Rank(candidates[i], s.Audience(), order, 0, many)
					got := w.find(s)
					if !inOrder(got, ranked) {
						w.t.Errorf("%s, %v, %s: %v is not the order of %v", n.name, context.Entities, order, got,
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
					w.t.Errorf("%s, %v, %s: found %d of %d", n.name, context.Entities, order, found, wanted)
				}
			}
		}
	}
}

// passing are the loaded items that pass, compared with a question.
func passing(passes func(int) bool, question []float32) (candidates []domain.Candidate) {
	calibration, vectors := tiny{}.Calibration(), loadedVectors()
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

// TestASearchEndsThoughOnePlaceHasGivenAllThatItHas asks for what few pass, where one of two places is nearly empty.
func TestASearchEndsThoughOnePlaceHasGivenAllThatItHas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hers := domain.Search{
			Text: "indentation", Context: domain.Context{Given: true, Entities: []domain.Entity{"user:alice", "org:acme"}},
			Filter: domain.Filter{Owner: "user:alice"}, MinScore: new(float64),
		}
		w.know("hers", domain.Remembered{
			Type: domain.Strategy, Owner: "user:alice", Scopes: []domain.Scope{"user:alice"},
			Text: domain.Text{Content: "spaces, not tabs"},
		})
		for items := range 4 {
			w.fillFrom(items*400, 400)
			w.understand()
			found := make(chan []string, 1)
			go func() { found <- w.find(hers) }()
			select {
			case ids := <-found:
				equal(t, ids, []string{"hers"}, "among %d others (-got +want)", 400*(items+1))
			case <-time.After(time.Minute):
				t.Fatalf("among %d others the search never ends", 400*(items+1))
			}
		}
	})
}
