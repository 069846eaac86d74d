package projections_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
)

// model is the built-in embedder with an eye on it: it can be down, and counts what it embeds.
type model struct {
	embedding.Builtin

	mu       sync.Mutex
	down     error
	embedded map[string]int
	asked    [][]string // the questions of each request
}

func (m *model) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	if m.embedded == nil {
		m.embedded = map[string]int{}
	}
	if kind == embedding.Document {
		for _, text := range texts {
			m.embedded[text]++
		}
	}
	if kind == embedding.Query {
		m.asked = append(m.asked, texts)
	}
	return m.Builtin.Embed(ctx, texts, kind)
}

func (m *model) goes(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

func TestWordsAnswerAloneWhileTheModelIsDown(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &model{}
		w := newWorld(t, db, projections.Settings{Embedder: m})
		w.remember("payment", "retry the payment call", "team:pay")
		w.remember("garden", "water the tomatoes", "team:pay")
		w.understand()
		question := domain.Search{Text: "retry payments", MinScore: new(float64)}
		for _, down := range []error{nil, fmt.Errorf("loading: %w", embedding.ErrUnavailable), nil} {
			m.goes(down)
			answer := w.search(question)
			if got := answer.Degraded != ""; got != (down != nil) {
				t.Errorf("down %v: degraded %q", down, answer.Degraded)
			}
			if len(answer.Hits) == 0 || answer.Hits[0].ID != "payment" {
				t.Fatalf("down %v: found %+v", down, answer.Hits)
			}
			switch hit := answer.Hits[0]; {
			case down != nil && (hit.Score != hit.Lexical || hit.Score == 0 || hit.Semantic != 0 || len(answer.Hits) != 1):
				t.Errorf("down %v: %+v", down, answer.Hits)
			case down == nil && (hit.Semantic == 0 || len(answer.Hits) != 2):
				t.Errorf("up: %+v", answer.Hits)
			}
			all := must(w.reader().Status(t.Context(), w.by.Tenant))(t)
			for _, p := range all {
				if p.Name == "meaning" && (p.Error != "") != (down != nil) {
					t.Errorf("down %v: the status says %q", down, p.Error)
				}
			}
		}
	})
}

func TestATextThatBreaksTheModelStopsNoOther(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, _ := served(t, db, projections.Settings{Embedder: newEndpoint(t).model(t, "small")})
		for i, content := range []string{"retry the call", "this breaks it", "water it", "this overflows it", "log it"} {
			w.remember(fmt.Sprint("item-", i), content, "team:pay")
		}
		w.reads(5)
		s := domain.Search{Text: "water it"}
		w.until("searches say it", func() bool { return w.search(s).Degraded != "" })
		for _, q := range must(w.followers.Quarantined(t.Context(), "meaning_1", w.by.Tenant))(t) {
			if q.Stream != "knowledge:item-1" && q.Stream != "knowledge:item-3" || q.Attempts != 3 {
				t.Errorf("in quarantine: %+v", q)
			}
		}
		for question, semantic := range map[string]int{"water it": 3, "what breaks it": 0} {
			answer := w.search(domain.Search{Text: question, MinScore: new(float64)})
			for _, hit := range answer.Hits {
				if hit.Semantic != 0 {
					semantic--
				}
			}
			if semantic != 0 || answer.Degraded == "" {
				t.Errorf("%s: degraded %q, %+v", question, answer.Degraded, answer.Hits)
			}
		}
	})
}

func TestAVectorMustFitTheSpace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("payment", "retry the payment call", "team:pay")
		w.understand()
		for name, vector := range map[string][]float32{
			"too short": {1, 2, 3}, "too long": make([]float32, 4096),
			"without direction": make([]float32, embedding.Builtin{}.Dims()),
		} {
			s := must(domain.Search{By: w.by, Text: "payment", Vector: vector}.Complete())(t)
			_, err := w.base.Searcher.Search(t.Context(), s)
			var invalid *domain.Invalid
			if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Field != "vector" {
				t.Errorf("%s: got %v, want the field vector named", name, err)
			}
		}
		// A vector alone is enough, of any length but zero.
		vector := w.embed(embedding.Query, "retry the payment call")[0]
		for i := range vector {
			vector[i] *= 7
		}
		answer := w.search(domain.Search{Vector: vector})
		if len(answer.Hits) != 1 || answer.Hits[0].Score < 0.5 {
			t.Errorf("by a vector alone: %+v", answer.Hits)
		}
	})
}

func TestAnEmptyAnswerSaysWhy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		question := domain.Search{Text: "retry payments"}
		answer := w.search(question)
		if e := answer.Explain; len(answer.Hits) != 0 || e == nil || e.Visible != 0 || e.Passed != 0 || e.BestBelow != 0 {
			t.Errorf("of nothing: %+v, %+v", answer, answer.Explain)
		}

		w.remember("payment", "retry the payment call", "team:pay", "user:alice")
		w.remember("garden", "water the tomatoes", "team:pay")
		w.remember("elsewhere", "retry the payment call", "team:web")
		w.remember("gone", "retry the payment call", "team:pay")
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "gone"}})
		w.understand()
		question.Context = domain.Context{Given: true, Entities: []domain.Entity{"team:pay", "user:alice"}}
		best := w.search(question).Hits[0].Score
		high := 0.999
		question.MinScore = &high
		question.Filter.Tags = domain.Tags{"none": nil}
		e := w.search(question).Explain
		if e == nil || e.Visible != 2 || e.Passed != 0 || e.BestBelow != 0 {
			t.Errorf("with a filter that nothing passes: %+v", e)
		}
		question.Filter.Tags = nil
		if e = w.search(question).Explain; e == nil || e.Visible != 2 || e.Passed != 2 || e.BestBelow != best {
			t.Errorf("under the threshold: %+v, want the best below %v", e, best)
		}
	})
}

// What was just remembered is found by its words as if words stood alone for it: on the same scale as
// what has a vector, and not below it for want of one.
func TestWhatHasNoVectorYetIsRankedByItsWords(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(newCorpus(11), 60)
		fresh := newCorpus(12)
		for i := range 30 {
			w.submit(w.complete(domain.Remember{By: w.by, ID: fmt.Sprint("fresh-", i), Knowledge: fresh.knowledge()}))
		}
		truth := w.everything()
		asked := newCorpus(13)
		alone := 0
		for i := range 40 {
			s := domain.Search{By: w.by, Text: asked.question(truth[fmt.Sprint("fresh-", i%30)].Text.Content), Limit: 20}
			if i%2 > 0 {
				s.Context, s.Order = pay, domain.ByScore
			}
			s.Everyone, s.Copies = true, true
			s = must(s.Complete())(t)
			hits := w.search(s).Hits
			if wrong := newVerdict(s, truth.hits(w, s), minScore).complaint(hits); wrong != "" {
				t.Errorf("%q: %s", s.Text, wrong)
			}
			for _, hit := range hits {
				if hit.Semantic == 0 {
					alone++
				}
			}
		}
		if alone < 40 {
			t.Errorf("%d hits without a vector, want at least one for each question", alone)
		}
	})
}
