package policies_test

import (
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/policies"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestAnItemThatWaitsForItsVerificationWeighsLess(t *testing.T) {
	EachAt(t, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), func(t *testing.T, w *World, now *time.Time) {
		w.Base.Searcher.Verified = policies.NewVerifications(w.Log.Reader)
		for _, id := range []string{"window", "kept"} {
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Plan}, Owner: w.By.Subject, Scopes: []domain.Scope{domain.Public},
				Text: domain.Text{Content: "the deploy window: " + id},
			})
		}
		w.Submit(domain.PutMember{OfDirectory: domain.OfDirectory{By: w.By, Member: "user:ben"}})
		w.Submit(domain.SetPolicy{OfPolicy: domain.OfPolicy{By: w.By}, EveryDays: 60, Verifier: "user:ben"})
		*now = now.AddDate(0, 0, 61)
		w.Submit(domain.Confirm{Target: domain.Target{By: w.By, ID: "kept"}})
		search := Must(domain.Search{By: w.By, Text: "deploy window"}.Complete())(t)
		hits := Must(w.Reader().Search(t.Context(), search))(t).Hits
		if len(hits) != 2 {
			t.Errorf("got %d hits, want 2", len(hits))
		}
		for _, hit := range hits {
			if hit.Overdue != (hit.ID != "kept") {
				t.Errorf("%s is overdue: %v", hit.ID, hit.Overdue)
			}
			if want := domain.Weight(hit.Score, hit.Confidence); hit.Overdue && hit.Weight >= want {
				t.Errorf("%s weighs %v of %v", hit.ID, hit.Weight, want)
			}
		}
	})
}
