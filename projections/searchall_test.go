package projections_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections"
)

func TestManyQuestionsAreAnsweredAsEachAloneAndEmbeddedTogether(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &model{}
		w := newWorld(t, db, projections.Settings{Embedder: m})
		w.remember("payment", "retry the payment call", "team:pay")
		w.remember("garden", "water the tomatoes", "team:pay")
		w.understand()
		var all []domain.Search
		for _, s := range []domain.Search{
			{Text: "retry payments"},
			{Text: "retry payments", Filter: domain.Filter{Types: []domain.Type{domain.Tool}}},
			{Text: "tomatoes"},
			{Text: "retry payments", Limit: 1},
			{Vector: w.embed(embedding.Document, "water the tomatoes")[0]},
			{Text: "of another length", Vector: w.embed(embedding.Document, "retry the payment call")[0]},
		} {
			s.By = w.by
			complete := must(s.Complete())(t)
			all = append(all, complete)
		}
		all[2].Explain = true
		var want []domain.Answer
		for _, s := range all {
			alone := w.search(s)
			if !s.Explain {
				alone.Explain = nil // why it is empty
			}
			want = append(want, alone)
		}
		m.asked = nil
		got := must(w.base.SearchAll(t.Context(), all))(t)
		if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(domain.Explanation{}, "Took")); diff != "" {
			t.Error(diff)
		}
		if len(got[1].Hits) != 0 || got[2].Explain == nil {
			t.Errorf("found tools, or explained nothing: %+v", got)
		}
		if len(got[0].Hits) == 0 || len(got[2].Hits) == 0 || len(got[4].Hits) == 0 {
			t.Errorf("found nothing: %+v", got)
		}
		equal(t, m.asked, [][]string{{"retry payments", "tomatoes"}}, "embedded")

		m.goes(fmt.Errorf("loading: %w", embedding.ErrUnavailable))
		got, err := w.base.SearchAll(t.Context(), all)
		if err != nil || got[0].Degraded == "" || len(got[0].Hits) == 0 || got[4].Degraded != "" {
			t.Errorf("without a model: %v, %+v", err, got)
		}
		all[1].Vector = []float32{1}
		if _, err := w.base.SearchAll(t.Context(), all); err == nil {
			t.Error("a vector that does not fit was taken")
		}
	})
}
