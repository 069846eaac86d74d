package projections_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/domain"
)

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
