package projections_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

func TestWordsAreFoundWhereverTheyLie(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		w.base.PackedRows, w.base.BatchRows = 30, 20
		for i := range 60 {
			w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d about retries and backoff", i), "team:pay", "public")
		}
		w.remember("long", strings.Repeat("filler ", 10)+distinctWords(2000)+" retries", "team:pay")
		question := domain.Search{Text: "lesson 7 retries", Explain: true, Limit: 100}
		before := w.find(question)
		lying := w.stored()
		rounds := 0
		for more := true; more; rounds++ {
			var err error
			if more, err = w.base.Compact(t.Context(), w.log.Log); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, w.find(question)); diff != "" {
				t.Fatalf("answers before and after round %d of moving words (-before +after):\n%s", rounds, diff)
			}
			w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: "item-1"}, Verdict: domain.Harmful,
				TraceID: fmt.Sprint(rounds),
			})
		}
		if rounds < 3 {
			t.Errorf("moved everything in %d rounds, want several", rounds)
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

func TestCrowdedBagsAreMovedWithLittleRest(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		w.base.PackedRows, w.base.BatchRows = 1, 10
		for i := range 25 {
			w.remember(fmt.Sprint("item-", i), "a lesson", "public")
		}
		for round, want := range []time.Duration{100 * time.Millisecond, 800 * time.Millisecond} { // 14 bags too many, then 4
			if _, err := w.base.Compact(t.Context(), w.log.Log); err != nil {
				t.Fatal(err)
			}
			if got := w.base.CompactPause(400*time.Millisecond, time.Minute); got != want {
				t.Errorf("after round %d: %s, want %s", round, got, want)
			}
			if got := w.base.CompactPause(400*time.Millisecond, time.Second); got != 800*time.Millisecond {
				t.Errorf("after round %d, while somebody appends: %s, want 800ms", round, got)
			}
		}
	})
}

func TestCrowdedBagsAreMovedTogetherWhileNobodyAppends(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		w.base.PackedRows, w.base.BatchRows = 1, 5
		for i := range 200 {
			w.remember(fmt.Sprint("item-", i), "a lesson", "public")
		}
		bags := func() (n int) {
			if err := db.NewRaw("SELECT count(*) FROM knowledge_1_scopes WHERE bag IS NOT NULL").
				Scan(t.Context(), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		rounds := func(most int) (rounds int) {
			for more := true; more && rounds < most; rounds++ {
				var err error
				if more, err = w.base.Compact(t.Context(), w.log.Log); err != nil {
					t.Fatal(err)
				}
			}
			return rounds
		}
		rounds(3)
		if got := bags(); got != 185 {
			t.Errorf("after three rounds while somebody appends: %d bags, want 185", got)
		}
		if got := w.unindexed(); got != 184 {
			t.Errorf("after three rounds: %d are said to wait, want 184", got)
		}
		w.base.Idle = 0
		if got := rounds(30); got > 20 {
			t.Errorf("moved the rest in %d rounds, want them to grow", got)
		}
		if got := bags(); got > 1 {
			t.Errorf("%d bags are left, want one at most", got)
		}
		if got := w.unindexed(); got != 0 {
			t.Errorf("in the end: %d are said to wait, want none", got)
		}
	})
}

func TestALargeBacklogIsIndexedAsAGroup(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		w.base.PackedRows, w.base.LargeBacklog, w.base.Idle = 1, 50, 0
		for i := range 100 {
			w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d about retries and backoff", i), "team:pay", "public")
		}
		w.remember("long", distinctWords(2000)+" retries", "team:pay")
		question := domain.Search{Text: "lesson 7 retries", Explain: true, Limit: 100, Context: pay}
		before := w.search(question).Hits
		w.indexHalf()
		if diff := cmp.Diff(before, w.search(question).Hits); diff != "" {
			t.Errorf("hits before and after an interruption (-before +after):\n%s", diff)
		}
		w.rebuild() // its verification compares both versions

		// What an interruption left of an item goes when the item changes.
		content := "something else entirely"
		w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "item-6"}, Changes: domain.Revised{Content: &content}})
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "item-8"}})
		var racing sync.WaitGroup
		racing.Go(func() {
			for i := range 20 {
				w.submit(domain.Revise{
					Target: domain.Target{By: w.by, ID: fmt.Sprint("item-", 50+i)}, Scopes: []domain.Scope{"org:acme"},
				})
			}
		})
		if _, err := w.base.Compact(t.Context(), w.log.Log); err != nil {
			t.Fatal(err)
		}
		racing.Wait()
		for version := 1; version <= 2; version++ {
			if diff := cmp.Diff(folded(w.items()), w.storedIn(version)); diff != "" {
				t.Errorf("tables of version %d (-folded +stored):\n%s", version, diff)
			}
		}
		if packed := w.unindexed(); packed > 40 {
			t.Errorf("%d packed rows are left, want those of changed items at most", packed)
		}
	})
}

// indexHalf leaves what an interrupted move of a group leaves: an index that has some terms of packed items.
func (w *world) indexHalf() {
	w.t.Helper()
	v := w.base.Compactor.VersionSet.Load().Versions[0]
	group, err := words.ReadGroup(w.t.Context(), w.db, v, w.by.Tenant, 0, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
	if err != nil {
		w.t.Fatal(err)
	}
	half := func(list []words.TermRow) (some []words.TermRow) {
		for i := 0; i < len(list); i += 2 {
			some = append(some, list[i])
		}
		return some
	}
	err = words.EachRange(w.t.Context(), group, half, func(ctx context.Context, list []words.TermRow) error {
		return w.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			script := &rows.Script{Engine: w.db.Engine}
			words.InsertTerms(script, v.Tables, w.by.Tenant, list)
			return script.Execute(ctx, tx)
		})
	})
	if err != nil {
		w.t.Fatal(err)
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
