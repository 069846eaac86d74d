package projections_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func TestWordsAreFoundWhereverTheyLie(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		for i := range 60 {
			w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d about retries and backoff", i), "team:pay", "public")
		}
		w.remember("long", strings.Repeat("filler ", 10)+distinctWords(2000)+" retries", "team:pay")
		question := domain.Search{Text: "lesson 7 retries", Explain: true, Limit: 100}
		before := w.find(question)
		lying := w.stored()
		for w.base.PackedRows = 120; w.base.PackedRows >= 30; w.base.PackedRows -= 30 {
			must(w.base.Compact(t.Context(), w.log.Log))(t)
			if diff := cmp.Diff(before, w.find(question)); diff != "" {
				t.Fatalf("answers before and after all but %d packed rows moved (-before +after):\n%s", w.base.PackedRows, diff)
			}
			w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: "item-1"}, Verdict: domain.Harmful,
				TraceID: fmt.Sprint(w.base.PackedRows),
			})
		}
		w.base.PackedRows = 30
		if waiting := w.unindexed(); waiting != 0 {
			t.Errorf("%d packed rows are said to wait, want none", waiting)
		}
		if diff := cmp.Diff(lying["terms"], w.stored()["terms"]); diff != "" {
			t.Errorf("terms before and after (-before +after):\n%s", diff)
		}
		// What was moved can be revised, rescoped and forgotten like anything else.
		content := "something else entirely"
		w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "item-7"}, Changes: domain.Revised{Content: &content}})
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "item-8"}})
		w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "item-9"}, Scopes: []domain.Scope{"org:acme"}})
		if diff := cmp.Diff(folded(w.items()), w.stored()); diff != "" {
			t.Errorf("tables (-folded +stored):\n%s", diff)
		}
	})
}

// unindexed is how many items wait for their words to be indexed, as whoever asks is told.
func (w *world) unindexed() int64 {
	w.t.Helper()
	all, err := w.reader().Status(w.t.Context(), w.by.Tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	return all[0].Unindexed
}

// distinctWords are so many different words.
func distinctWords(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "w%dx ", i)
	}
	return words.String()
}
