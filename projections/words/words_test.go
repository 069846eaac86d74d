package words_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/words"
)

func TestWordsAreFoundWhereverTheyLie(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := NewWorld(t, db, projections.Settings{})
		for i := range 60 {
			w.Remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d about retries and backoff", i), "team:pay", "public")
		}
		w.Remember("long", strings.Repeat("filler ", 10)+DistinctWords(2000)+" retries", "team:pay")
		question := domain.Search{Text: "lesson 7 retries", Explain: true, Limit: 100}
		before := w.Find(question)
		lying := w.Stored()
		for w.Base.Indexer.MaxChanges = 120; w.Base.Indexer.MaxChanges >= 30; w.Base.Indexer.MaxChanges -= 30 {
			NoError(t, w.Base.Indexer.IndexWords(t.Context()))
			if diff := cmp.Diff(before, w.Find(question)); diff != "" {
				t.Fatalf("answers before and after all but %d packed rows moved (-before +after):\n%s", w.Base.Indexer.MaxChanges, diff)
			}
			w.Submit(domain.GiveFeedback{
				Target: domain.Target{By: w.By, ID: "item-1"}, Verdict: domain.Harmful,
				TraceID: fmt.Sprint(w.Base.Indexer.MaxChanges),
			})
		}
		w.Base.Indexer.MaxChanges = 30
		if waiting := unindexed(w); waiting != 0 {
			t.Errorf("%d packed rows are said to wait, want none", waiting)
		}
		if diff := cmp.Diff(lying["terms"], w.Stored()["terms"]); diff != "" {
			t.Errorf("terms before and after (-before +after):\n%s", diff)
		}
		// What was moved can be revised, rescoped and forgotten like anything else.
		content := "something else entirely"
		w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "item-7"}, Changes: domain.Revised{Content: &content}})
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "item-8"}})
		w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "item-9"}, Scopes: []domain.Scope{"org:acme"}})
		if diff := cmp.Diff(Folded(w.Items()), w.Stored()); diff != "" {
			t.Errorf("tables (-folded +stored):\n%s", diff)
		}
	})
}

func TestAnswersDoNotDependOnWhatIsIndexed(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := NewWorld(t, db, projections.Settings{})
		random := rand.New(rand.NewPCG(3, 4))
		some := func(of ...string) string { return of[random.IntN(len(of))] }
		sentence := func() string {
			var said []string
			for range 1 + random.IntN(12) {
				said = append(said, some("retry", "backoff", "payment", "invoice", "ledger", "支付失败", "server", "queue"))
			}
			return strings.Join(said, " ")
		}
		scopes := func() []domain.Scope {
			return slices.Compact(slices.Sorted(slices.Values([]domain.Scope{
				domain.Scope(some("team:pay", "org:acme", "public")), domain.Scope(some("team:ops", "org:acme", "user:alice")),
			})))
		}
		var ids []string
		rounds := 16
		if testing.Short() {
			rounds = 5
		}
		for round := range rounds {
			for range 12 {
				if random.IntN(2) == 0 || len(ids) == 0 {
					id := fmt.Sprint("item-", len(ids))
					ids = append(ids, id)
					w.Know(id, domain.Remembered{
						Class: domain.Class{Type: domain.Type(some("strategy", "tool"))}, Owner: "org:acme", Scopes: scopes(),
						Text: domain.Text{Content: sentence(), Tags: domain.Tags{"lang": {some("go", "sql")}}},
					})
					continue
				}
				target, content := domain.Target{By: w.By, ID: some(ids...)}, sentence()
				_, err := w.Log.Submit(t.Context(), domain.Submission{By: w.By, Command: []domain.Command{
					domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
					domain.Revise{Target: target, Scopes: scopes()},
					domain.Delete{Target: target},
					domain.Supersede{Target: target, Successor: some(ids...)},
					Must(domain.Erase{Target: target}.Complete())(t),
					domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint(round, content)},
				}[random.IntN(6)]})
				if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrNotFound) &&
					!errors.Is(err, domain.ErrDeleted) {
					t.Log(err) // some cannot be done any more
				}
			}
			before := chosenBySets(w)
			w.Base.Indexer.MaxChanges, w.Base.Indexer.StepChanges = random.IntN(20), 1+random.IntN(40)
			for range random.IntN(3) {
				NoError(t, w.Base.Indexer.IndexWords(t.Context()))
			}
			Equal(t, chosenBySets(w), before, "counts and lists after and before items were indexed (-after +before)")
			comparesWords(w, sentence())
		}
		w.Base.Indexer.MaxChanges = 0
		for range 100 {
			NoError(t, w.Base.Indexer.IndexWords(t.Context()))
		}
		if waiting := unindexed(w); waiting != 0 {
			t.Errorf("%d items wait to be indexed, want none", waiting)
		}
		comparesWords(w, sentence())
		if diff := cmp.Diff(Folded(w.Items()), w.Stored()); diff != "" {
			t.Errorf("tables (-folded +stored):\n%s", diff)
		}
	})
}

// chosenBySets are counts, lists and sorted lists of several readers.
func chosenBySets(w *World) (all []any) {
	w.T.Helper()
	items := w.Items()
	for _, filter := range []domain.Filter{
		{},
		{Types: []domain.Type{domain.Strategy}},
		{Tags: domain.Tags{"lang": {"go"}}, Scope: "org:acme"},
		{Statuses: []domain.Status{domain.IsSuperseded, domain.IsDeleted}},
	} {
		for _, by := range []domain.Principal{w.By, As("user:alice", "team:pay"), As("user:nobody")} {
			counts := Must(w.Base.Browser.Count(w.T.Context(), by, filter))(w.T)
			page := Must(w.Base.Browser.List(w.T.Context(), domain.List{By: by, Filter: filter, Limit: 100}))(w.T)
			sorted := Must(w.Base.Browser.List(w.T.Context(), domain.List{By: by, Filter: filter, Limit: 100, Sort: domain.ByHarm}))(w.T)
			var seen []string
			for id, k := range items {
				if by.MaySee(k) && Passes(k, filter) {
					seen = append(seen, id)
				}
			}
			slices.Sort(seen)
			for _, listed := range []domain.ListPage{page, sorted} {
				Equal(w.T, slices.Sorted(slices.Values(IDsOf(listed))), seen, "as %s, %v (-got +want)", by.Subject, filter)
			}
			all = append(all, counts, IDsOf(page), IDsOf(sorted))
		}
	}
	return all
}

// comparesWords compares the scores of a question with those that are computed of all items.
func comparesWords(w *World, question string) {
	w.T.Helper()
	index := words.Index{View: Must(w.Base.Versions.View(w.T.Context()))(w.T)}
	all, contested := w.Everything(), false
	for _, filter := range []domain.Filter{
		{},
		{Types: []domain.Type{domain.Strategy}},
		{Tags: domain.Tags{"lang": {"go"}}, Scope: "org:acme"},
		{Statuses: []domain.Status{domain.IsSuperseded}},
		{Owner: "org:acme", Contested: &contested},
	} {
		for _, entities := range [][]domain.Entity{nil, {"team:pay"}, {"user:alice", "org:acme"}} {
			s := domain.Search{By: w.By, Text: question, Filter: filter}
			s.Context = domain.Context{Given: entities != nil, Entities: entities}
			got := Must(index.Match(w.T.Context(), s, s.Audience()))(w.T)
			want := map[int64]float64{}
			for id, score := range all.WordScores(s) {
				if score > 0 && Passes(all[id].Knowledge, filter) {
					want[all[id].Number] = score
				}
			}
			if best := slices.Sorted(slices.Values(got.Best(1000))); !slices.Equal(best, slices.Sorted(maps.Keys(want))) {
				w.T.Errorf("%q, %v, %v: got the items %v, want %v", question, filter, entities, best, want)
			}
			for number, score := range want {
				if math.Abs(got.ScoreOf(number)-score) > 1e-9 {
					w.T.Errorf("%q, %v, %v: %d has %v, want %v", question, filter, entities, number, got.ScoreOf(number), score)
				}
			}
		}
	}
}

// unindexed is how many items wait for their words to be indexed, as whoever asks is told.
func unindexed(w *World) int64 {
	w.T.Helper()
	all := Must(w.Reader().Status(w.T.Context(), w.By.Tenant))(w.T)
	return all[0].Unindexed
}
