package search_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestWordsAnswerAloneWhileTheModelIsDown(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &Model{}
		w := NewWorld(t, db, projections.Settings{Embedder: m})
		w.Remember("payment", "retry the payment call", "team:pay")
		w.Remember("garden", "water the tomatoes", "team:pay")
		w.Understand()
		question := domain.Search{Text: "retry payments", MinScore: new(float64)}
		for _, down := range []error{nil, fmt.Errorf("loading: %w", embedding.ErrUnavailable), nil} {
			m.Goes(down)
			answer := w.Search(question)
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
			all := Must(w.Reader().Status(t.Context(), w.By.Tenant))(t)
			for _, p := range all {
				if p.Name == "meaning" && (p.Error != "") != (down != nil) {
					t.Errorf("down %v: the status says %q", down, p.Error)
				}
			}
		}
	})
}

func TestAVectorMustFitTheSpace(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("payment", "retry the payment call", "team:pay")
		w.Understand()
		for name, vector := range map[string][]float32{
			"too short": {1, 2, 3}, "too long": make([]float32, 4096),
			"without direction": make([]float32, embedding.Builtin{}.Dims()),
		} {
			s := Must(domain.Search{By: w.By, Text: "payment", Vector: vector}.Complete())(t)
			_, err := w.Base.Searcher.Search(t.Context(), s)
			var invalid *domain.Invalid
			if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Field != "vector" {
				t.Errorf("%s: got %v, want the field vector named", name, err)
			}
		}
		// A vector alone is enough, of any length but zero.
		vector := w.Embed(embedding.Query, "retry the payment call")[0]
		for i := range vector {
			vector[i] *= 7
		}
		answer := w.Search(domain.Search{Vector: vector})
		if len(answer.Hits) != 1 || answer.Hits[0].Score < 0.5 {
			t.Errorf("by a vector alone: %+v", answer.Hits)
		}
	})
}

func TestAnEmptyAnswerSaysWhy(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		question := domain.Search{Text: "retry payments"}
		answer := w.Search(question)
		if e := answer.Explain; len(answer.Hits) != 0 || e == nil || e.Visible != 0 || e.Passed != 0 || e.BestBelow != 0 {
			t.Errorf("of nothing: %+v, %+v", answer, answer.Explain)
		}

		w.Remember("payment", "retry the payment call", "team:pay", "user:alice")
		w.Remember("garden", "water the tomatoes", "team:pay")
		w.Remember("elsewhere", "retry the payment call", "team:web")
		w.Remember("gone", "retry the payment call", "team:pay")
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "gone"}})
		w.Understand()
		question.Context = domain.Context{Given: true, Entities: []domain.Entity{"team:pay", "user:alice"}}
		best := w.Search(question).Hits[0].Score
		high := 0.999
		question.MinScore = &high
		question.Filter.Tags = domain.Tags{"none": nil}
		e := w.Search(question).Explain
		if e == nil || e.Visible != 2 || e.Passed != 0 || e.BestBelow != 0 {
			t.Errorf("with a filter that nothing passes: %+v", e)
		}
		question.Filter.Tags = nil
		if e = w.Search(question).Explain; e == nil || e.Visible != 2 || e.Passed != 2 || e.BestBelow != best {
			t.Errorf("under the threshold: %+v, want the best below %v", e, best)
		}
	})
}

// What was just remembered is found by its words as if words stood alone for it: on the same scale as
// what has a vector, and not below it for want of one.
func TestWhatHasNoVectorYetIsRankedByItsWords(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Fill(NewCorpus(11), 60)
		fresh := NewCorpus(12)
		for i := range 30 {
			w.Submit(w.Complete(domain.Remember{By: w.By, ID: fmt.Sprint("fresh-", i), Knowledge: fresh.Knowledge()}))
		}
		truth := w.Everything()
		asked := NewCorpus(13)
		alone := 0
		for i := range 40 {
			s := domain.Search{By: w.By, Text: asked.Question(truth[fmt.Sprint("fresh-", i%30)].Text.Content), Limit: 20}
			if i%2 > 0 {
				s.Context, s.Order = Pay, domain.ByScore
			}
			s.Everyone, s.Copies = true, true
			s = Must(s.Complete())(t)
			hits := w.Search(s).Hits
			if wrong := NewVerdict(s, truth.Hits(w, s), MinScore).Complaint(hits); wrong != "" {
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
