package projections_test

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
	"github.com/annals-kb/annals/projections/words"
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
		for w.base.Indexer.MaxChanges = 120; w.base.Indexer.MaxChanges >= 30; w.base.Indexer.MaxChanges -= 30 {
			noError(t, w.base.Indexer.IndexWords(t.Context()))
			if diff := cmp.Diff(before, w.find(question)); diff != "" {
				t.Fatalf("answers before and after all but %d packed rows moved (-before +after):\n%s", w.base.Indexer.MaxChanges, diff)
			}
			w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: "item-1"}, Verdict: domain.Harmful,
				TraceID: fmt.Sprint(w.base.Indexer.MaxChanges),
			})
		}
		w.base.Indexer.MaxChanges = 30
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

func TestAnswersDoNotDependOnWhatIsIndexed(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
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
		for round := range 16 {
			for range 12 {
				if random.IntN(2) == 0 || len(ids) == 0 {
					id := fmt.Sprint("item-", len(ids))
					ids = append(ids, id)
					w.know(id, domain.Remembered{
						Class: domain.Class{Type: domain.Type(some("strategy", "tool"))}, Owner: "org:acme", Scopes: scopes(),
						Text: domain.Text{Content: sentence(), Tags: domain.Tags{"lang": {some("go", "sql")}}},
					})
					continue
				}
				target, content := domain.Target{By: w.by, ID: some(ids...)}, sentence()
				_, err := w.log.Submit(t.Context(), domain.Submission{By: w.by, Command: []domain.Command{
					domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
					domain.Revise{Target: target, Scopes: scopes()},
					domain.Delete{Target: target},
					domain.Supersede{Target: target, Successor: some(ids...)},
					must(domain.Erase{Target: target}.Complete())(t),
					domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint(round, content)},
				}[random.IntN(6)]})
				if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrNotFound) &&
					!errors.Is(err, domain.ErrDeleted) {
					t.Log(err) // some cannot be done any more
				}
			}
			before := w.chosenBySets()
			w.base.Indexer.MaxChanges, w.base.Indexer.StepChanges = random.IntN(20), 1+random.IntN(40)
			for range random.IntN(3) {
				noError(t, w.base.Indexer.IndexWords(t.Context()))
			}
			equal(t, w.chosenBySets(), before, "counts and lists after and before items were indexed (-after +before)")
			w.comparesWords(sentence())
		}
		w.base.Indexer.MaxChanges = 0
		for range 100 {
			noError(t, w.base.Indexer.IndexWords(t.Context()))
		}
		if waiting := w.unindexed(); waiting != 0 {
			t.Errorf("%d items wait to be indexed, want none", waiting)
		}
		w.comparesWords(sentence())
		if diff := cmp.Diff(folded(w.items()), w.stored()); diff != "" {
			t.Errorf("tables (-folded +stored):\n%s", diff)
		}
	})
}

// chosenBySets are counts, lists and sorted lists of several readers.
func (w *world) chosenBySets() (all []any) {
	w.t.Helper()
	items := w.items()
	for _, filter := range []domain.Filter{
		{},
		{Types: []domain.Type{domain.Strategy}},
		{Tags: domain.Tags{"lang": {"go"}}, Scope: "org:acme"},
		{Statuses: []domain.Status{domain.IsSuperseded, domain.IsDeleted}},
	} {
		for _, by := range []domain.Principal{w.by, as("user:alice", "team:pay"), as("user:nobody")} {
			counts := must(w.base.Browser.Count(w.t.Context(), by, filter))(w.t)
			page := must(w.base.Browser.List(w.t.Context(), domain.List{By: by, Filter: filter, Limit: 100}))(w.t)
			sorted := must(w.base.Browser.List(w.t.Context(), domain.List{By: by, Filter: filter, Limit: 100, Sort: domain.ByHarm}))(w.t)
			var seen []string
			for id, k := range items {
				if by.MaySee(k) && passes(k, filter) {
					seen = append(seen, id)
				}
			}
			slices.Sort(seen)
			for _, listed := range []domain.ListPage{page, sorted} {
				equal(w.t, slices.Sorted(slices.Values(idsOf(listed))), seen, "as %s, %v (-got +want)", by.Subject, filter)
			}
			all = append(all, counts, idsOf(page), idsOf(sorted))
		}
	}
	return all
}

// comparesWords compares the scores of a question with those that are computed of all items.
func (w *world) comparesWords(question string) {
	w.t.Helper()
	index := words.Index{View: must(w.base.Versions.View(w.t.Context()))(w.t)}
	all, contested := w.everything(), false
	for _, filter := range []domain.Filter{
		{},
		{Types: []domain.Type{domain.Strategy}},
		{Tags: domain.Tags{"lang": {"go"}}, Scope: "org:acme"},
		{Statuses: []domain.Status{domain.IsSuperseded}},
		{Owner: "org:acme", Contested: &contested},
	} {
		for _, entities := range [][]domain.Entity{nil, {"team:pay"}, {"user:alice", "org:acme"}} {
			s := domain.Search{By: w.by, Text: question, Filter: filter}
			s.Context = domain.Context{Given: entities != nil, Entities: entities}
			got := must(index.Match(w.t.Context(), s, s.Audience()))(w.t)
			want := map[int64]float64{}
			for id, score := range all.wordScores(s) {
				if score > 0 && passes(all[id].Knowledge, filter) {
					want[all[id].Number] = score
				}
			}
			if best := slices.Sorted(slices.Values(got.Best(1000))); !slices.Equal(best, slices.Sorted(maps.Keys(want))) {
				w.t.Errorf("%q, %v, %v: got the items %v, want %v", question, filter, entities, best, want)
			}
			for number, score := range want {
				if math.Abs(got.ScoreOf(number)-score) > 1e-9 {
					w.t.Errorf("%q, %v, %v: %d has %v, want %v", question, filter, entities, number, got.ScoreOf(number), score)
				}
			}
		}
	}
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
