package projections_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/past"
)

// pastWorld is a world whose past can be asked.
type pastWorld struct {
	*world
	past *past.Projection
}

// eachPast is each in a world whose past can be asked.
func eachPast(t *testing.T, test func(t *testing.T, w pastWorld)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, newPastWorld(t, db)) })
}

func newPastWorld(t *testing.T, db *database.DB) pastWorld {
	t.Helper()
	w := newWorld(t, db, projections.Settings{})
	return pastWorld{w, w.reader().Past}
}

// readOn lets the projection read what is new in the log, so many events at a time.
func (w pastWorld) readOn(size int) {
	w.t.Helper()
	for {
		position, eventID, _, err := w.followers.Checkpoint(w.t.Context(), w.past.Name(), w.by.Tenant)
		if err != nil {
			w.t.Fatal(err)
		}
		page := follow.Page{Tenant: w.by.Tenant, After: position, AfterID: eventID}
		if page.Events, err = w.log.Reader.Read(w.t.Context(), w.by.Tenant, position, size); err != nil {
			w.t.Fatal(err)
		}
		if len(page.Events) == 0 {
			return
		}
		change := must(w.past.Prepare(w.t.Context(), page))(w.t)
		noError(w.t, w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return errors.Join(change.Write(ctx, tx), w.followers.Advance(ctx, tx, w.past.Name(), page))
		}))
	}
}

func (w *world) head() int64 {
	w.t.Helper()
	head, _, err := w.log.Reader.Head(w.t.Context(), w.by.Tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	return head
}

// shown are the items of a list as of a position: what the caller would have been shown, if it may see it
// today.
func shown(list domain.List, then, now map[string]*domain.Knowledge) []*domain.Knowledge {
	var all []*domain.Knowledge
	for id, k := range then {
		if passes(k, list.Filter) && list.By.MaySee(k) && list.By.MaySee(now[id]) && now[id].Status != domain.IsErased {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *domain.Knowledge) int { return cmp.Compare(b.Number, a.Number) })
	return all
}

func TestThePastIsWhatTheLogReplaysTo(t *testing.T) {
	eachPast(t, func(t *testing.T, first pastWorld) {
		var stories atomic.Int64
		rapid.Check(t, func(rt *rapid.T) {
			w := pastWorld{first.in(fmt.Sprint("story-", stories.Add(1))), first.past}
			h := &telling{world: w.world}
			s := story{T: rt, by: w.by}
			for range rapid.IntRange(1, 3).Draw(rt, "batches") {
				h.outcomes(w.log.SubmitAll(t.Context(), h.bound(s.batch())))
				s.votes = len(h.votes)
				if rapid.Bool().Draw(rt, "read between") {
					w.readOn(rapid.SampledFrom([]int{1, 3, 500}).Draw(rt, "page"))
				}
			}
			w.readOn(500)
			now, head := w.items(), w.head()
			if len(now) == 0 {
				return
			}
			for range 4 {
				position := rapid.Int64Range(1, head).Draw(rt, "position")
				then := w.itemsAt(position)
				if len(then) == 0 {
					continue
				}
				w.holdItems(rt, position, then)
				about := then[rapid.SampledFrom(slices.Sorted(maps.Keys(then))).Draw(rt, "about")]
				a := asking{T: rt}
				list := domain.List{By: a.somebody(w.by), Filter: a.filter(about), AsOf: position}
				if rapid.Bool().Draw(rt, "every status") {
					list.Filter.Statuses = domain.Statuses
				}
				w.holdList(rt, list, shown(list, then, now))
			}
		})
	})
}

// ignored is what lists do not show.
// of then, they are in the history alone
var ignored = gocmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(domain.Knowledge{}, "Votes", "Voices", "Reports", "Relations", "DerivedFrom"),
}

func (w pastWorld) holdItems(t *rapid.T, position int64, then map[string]*domain.Knowledge) {
	for id, want := range then {
		got := must(w.past.Find(w.t.Context(), w.by.Tenant, id, position))(t)
		if diff := gocmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s at %d (-got +want):\n%s", id, position, diff)
		}
	}
}

func (w pastWorld) holdList(t *rapid.T, list domain.List, want []*domain.Knowledge) {
	var got []*domain.Knowledge
	list.Limit = 2
	for {
		page := must(w.past.List(w.t.Context(), list))(t)
		got = append(got, page.Items...)
		if list.Before = page.Next; page.Next == 0 {
			break
		}
	}
	if diff := gocmp.Diff(got, want, ignored); diff != "" {
		t.Errorf("listed by %s as of %d with %+v (-got +want):\n%s", list.By.Subject, list.AsOf, list.Filter, diff)
	}
}

func TestASearchOfThePastIsRankedAsItWouldHaveBeen(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.fill(newCorpus(3), 40)
		w.revise(newCorpus(4), 40, 40)
		w.readOn(70)
		head, now := w.head(), w.items()
		truths := map[int64]everything{}
		rapid.Check(t, func(rt *rapid.T) {
			position := head * rapid.Int64Range(2, 8).Draw(rt, "eighths") / 8
			truth, known := truths[position]
			if !known {
				truth = w.known(w.itemsAt(position))
				w.forgetMissing(truth)
				truths[position] = truth
			}
			s := asking{T: rt}.search(w.world, truth)
			s.AsOf = position
			least := minScore
			if s.MinScore != nil {
				least = *s.MinScore
			}
			may := everything{}
			for id, k := range truth {
				if s.By.MaySee(now[id]) {
					may[id] = k
				}
			}
			answer := must(w.past.Search(t.Context(), s))(rt)
			want := may.hits(w.world, s)
			if wrong := newVerdict(s, want, least).complaint(answer.Hits); wrong != "" {
				rt.Errorf("%s\nsearch %+v\nanswer %s\ntruth %s", wrong, s, listed(answer.Hits), listed(searchableScopes(want)))
			}
			for _, hit := range answer.Hits {
				if diff := gocmp.Diff(hit.Knowledge, truth[hit.ID].Knowledge, ignored); diff != "" {
					rt.Errorf("%s at %d (-got +want):\n%s", hit.ID, position, diff)
				}
			}
		})
	})
}

// forgetMissing leaves items without the vectors that were never made, because their text was replaced
// before anybody looked.
func (w pastWorld) forgetMissing(truth everything) {
	w.t.Helper()
	made := map[string]bool{}
	for _, row := range w.table("SELECT text_hash FROM vectors_1 WHERE tenant = ?", w.by.Tenant) {
		made[string(row["text_hash"].([]byte))] = true
	}
	for _, k := range truth {
		var vectors [][]float32
		for i, said := range k.said {
			if hash := sha256.Sum256([]byte(said)); made[string(hash[:])] {
				vectors = append(vectors, k.vectors[i])
			}
		}
		k.vectors = vectors
	}
}

// revise lets all sorts of things happen to the corpus, each understood before the next.
func (w pastWorld) revise(c corpus, items, times int) {
	w.t.Helper()
	for range times {
		target := domain.Target{By: w.by, ID: fmt.Sprint("i", c.IntN(items))}
		scope := scopes[c.IntN(len(scopes))]
		content := "revised " + c.question("a word about payments and deployments")
		command := []domain.Command{
			domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
			domain.Revise{Target: target, Scopes: []domain.Scope{scope}},
			domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: content},
			domain.ReportStale{Target: target},
			domain.Delete{Target: target},
			domain.Restore{Target: target},
		}[c.IntN(6)]
		_, err := w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by})
		if err != nil && !errors.Is(err, domain.ErrDeleted) && !errors.Is(err, domain.ErrConflict) {
			w.t.Fatal(err)
		}
		w.understand()
	}
}

// erasing destroys an item's text, as far as the log is concerned.
type erasing struct{ domain.Target }

func (e erasing) Decide(domain.DecisionContext, time.Time) ([]domain.Fact, error) {
	return []domain.Fact{domain.Erased{ReasonCode: "test"}}, nil
}

func TestThePastIsKnownAtTheHeadOfTheLogBeforeItIsRead(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.fill(newCorpus(7), 10)
		head := w.head()
		list := domain.List{By: w.by, AsOf: head, Limit: 3}
		search := must(domain.Search{By: w.by, Text: newCorpus(7).
			question("a word about payments"), AsOf: head, MinScore: new(float64), Everyone: true, Copies: true}.Complete())(t)
		early := must(w.past.List(t.Context(), list))(t)
		earlyAnswer := must(w.past.Search(t.Context(), search))(t)
		w.readOn(500)
		page, err := w.past.List(t.Context(), list)
		if diff := gocmp.Diff(early, page, ignored); diff != "" || err != nil || len(page.Items) != 3 || page.Next == 0 {
			t.Errorf("list, %v (-early +late):\n%s", err, diff)
		}
		answer, err := w.past.Search(t.Context(), search)
		if diff := gocmp.Diff(listed(earlyAnswer.Hits), listed(answer.Hits)); diff != "" || err != nil ||
			len(answer.Hits) == 0 {
			t.Errorf("search, %v (-early +late):\n%s", err, diff)
		}
		w.remember("later", "what came later", domain.Public)
		if _, err := w.past.List(t.Context(), domain.List{By: w.by, AsOf: w.head() - 1}); err != nil {
			t.Errorf("what was read: %v", err)
		}
	})
}

func TestThePastIsTheSameWhenItIsComputedAgain(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.fill(newCorpus(5), 30)
		w.revise(newCorpus(6), 30, 60)
		w.submit(erasing{domain.Target{By: w.by, ID: "i7"}})
		w.submit(erasing{domain.Target{By: w.by, ID: "i8"}})
		w.readOn(1)
		before := w.pastTables()
		noError(t, w.past.BeginAnew(t.Context(), w.by.Tenant))
		_, err := w.past.List(t.Context(), domain.List{By: w.by, AsOf: 3})
		if !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("a list while nothing is read gives %v", err)
		}
		w.readOn(500)
		equal(t, w.pastTables(), before, "(-rebuilt +live)")
		number := w.items()["i7"].Number
		if said := w.said(number); said != "0 words, 0 pieces, 0 places" {
			t.Errorf("of what was erased there is %s", said)
		}
		page, err := w.past.List(t.Context(), domain.List{By: w.by, AsOf: number, Limit: 1})
		if err != nil || len(page.Items) > 0 && page.Items[0].ID == "i7" {
			t.Errorf("listed %v, %v", page.Items, err)
		}
		page, err = w.past.List(t.Context(), domain.List{
			By: w.by, AsOf: number, Limit: 1,
			Filter: domain.Filter{Statuses: []domain.Status{domain.IsErased}},
		})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != "i7" || page.Items[0].Status != domain.IsErased {
			t.Errorf("tombstones are %v, %v", page.Items, err)
		}
	})
}

// pastTables is all that the projection has written.
func (w pastWorld) pastTables() map[string][]map[string]any {
	w.t.Helper()
	tables := map[string][]map[string]any{}
	for table, order := range map[string]string{
		"": "number, since", "_scopes": "scope, number, since", "_counts": "number, since",
		"_words": "number, since", "_pieces": "number, since, piece",
	} {
		name := string(w.past.Tables.Items.Name) + table
		tables[table] = w.table("SELECT * FROM "+name+" WHERE tenant = ? ORDER BY "+order, w.by.Tenant)
	}
	return tables
}

// said counts what could still tell what an item said.
func (w pastWorld) said(number int64) string {
	w.t.Helper()
	var words, pieces, places int
	noError(w.t, w.db.QueryRowContext(w.t.Context(), `
		SELECT
			(SELECT count(*) FROM past_1_words WHERE tenant = ? AND number = ?),
			(SELECT count(*) FROM past_1_pieces WHERE tenant = ? AND number = ?),
			(SELECT coalesce(sum(content_at + task_at + tags_at + uri_at), 0) FROM past_1 WHERE tenant = ? AND number = ?)`,
		w.by.Tenant, number, w.by.Tenant, number, w.by.Tenant, number).Scan(&words, &pieces, &places))
	return fmt.Sprintf("%d words, %d pieces, %d places", words, pieces, places)
}
