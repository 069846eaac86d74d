package search_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestEverySearchIsRankedAsIfEveryItemHadBeenLookedAt(t *testing.T) {
	Each(t, func(t *testing.T, first *World) {
		var worlds []*World
		var truths []Everything
		for seed := range uint64(4) {
			w := first.In(fmt.Sprint("tenant-", seed))
			if seed%2 == 0 {
				w.Find(domain.Search{Text: "nothing"}) // it learns more while it is filled
			}
			w.Fill(NewCorpus(seed), 10+25*int(seed))
			worlds, truths = append(worlds, w), append(truths, w.Everything())
		}
		rapid.Check(t, func(rt *rapid.T) {
			seed := rapid.IntRange(0, len(worlds)-1).Draw(rt, "corpus")
			w, truth := worlds[seed], truths[seed]
			s := Asking{T: rt}.Search(w, truth)
			minScore := MinScore
			if s.MinScore != nil {
				minScore = *s.MinScore
			}
			answer := Must(w.Base.Searcher.Search(t.Context(), s))(rt)
			want := truth.Hits(w, s)
			if wrong := NewVerdict(s, want, minScore).Complaint(answer.Hits); wrong != "" {
				rt.Errorf("%s\nsearch %+v\nanswer %s\ntruth %s", wrong, s, Listed(answer.Hits), Listed(SearchableScopes(want)))
			}
		})
	})
}

func TestNothingIsLostInLargeScopes(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		items := 2000
		if testing.Short() {
			items = 400
		}
		w.Fill(NewCorpus(7), items)
		truth := w.Everything()
		c := NewCorpus(8)
		wanted, got := 0, 0
		for i := range 60 {
			s := domain.Search{By: w.By, Text: c.Question(truth[fmt.Sprint("i", c.IntN(items))].Text.Content)}
			if i%3 > 0 {
				s.Context = domain.Context{Given: true, Entities: []domain.Entity{"user:alice", "team:pay", "org:acme"}[:c.IntN(4)]}
			}
			if i%4 == 0 {
				s.Filter.Types = []domain.Type{domain.Tool, domain.Plan}
			}
			s.Everyone, s.Copies = true, true
			s = Must(s.Complete())(t)
			answered := w.Find(s)
			for _, hit := range domain.Rank(candidatesOf(truth.Hits(w, s)), s.Audience(), s.Order, MinScore, s.Limit) {
				wanted++
				if slices.Contains(answered, hit.ID) {
					got++
				}
			}
		}
		if recall := float64(got) / float64(wanted); recall < 0.99 || wanted < 300 {
			t.Errorf("recall %.3f of %d hits, want 0.99", recall, wanted)
		}
	})
}

func candidatesOf(hits []domain.Hit) []domain.Candidate {
	candidates := make([]domain.Candidate, len(hits))
	for i, hit := range hits {
		candidates[i] = hit.Candidate
	}
	return candidates
}

func TestTheThresholdHoldsForTheScoreReturned(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "retry the payment call", "team:pay")
		w.Remember("b", "call the customer", "team:pay")
		w.Understand()
		s := domain.Search{Text: "how to call", MinScore: new(float64)}
		for _, hit := range w.Search(s).Hits {
			for _, bar := range []struct {
				minScore float64
				passes   bool
			}{{hit.Score, true}, {math.Nextafter(hit.Score, 2), false}} {
				s.MinScore = &bar.minScore
				if got := slices.Contains(w.Find(s), hit.ID); got != bar.passes {
					t.Errorf("%s scored %v; with min_score %v, found: %v", hit.ID, hit.Score, bar.minScore, got)
				}
			}
		}
	})
}
