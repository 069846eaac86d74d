package past_test

import (
	"cmp"
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
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// shown are the items of a list as of a position: what the caller would have been shown, if it may see it
// today.
func shown(list domain.List, then, now map[string]*domain.Knowledge) []*domain.Knowledge {
	var all []*domain.Knowledge
	for id, k := range then {
		if Passes(k, list.Filter) && list.By.MaySee(k) && list.By.MaySee(now[id]) && now[id].Status != domain.IsErased {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *domain.Knowledge) int { return cmp.Compare(b.Number, a.Number) })
	return all
}

func TestThePastIsWhatTheLogReplaysTo(t *testing.T) {
	EachPast(t, func(t *testing.T, first PastWorld) {
		var stories atomic.Int64
		rapid.Check(t, func(rt *rapid.T) {
			w := PastWorld{World: first.In(fmt.Sprint("story-", stories.Add(1))), Past: first.Past}
			h := &Telling{World: w.World}
			s := Story{T: rt, By: w.By}
			for range rapid.IntRange(1, 3).Draw(rt, "batches") {
				h.Outcomes(w.Log.SubmitAll(t.Context(), h.Bound(s.Batch())))
				s.Votes = len(h.Votes)
				if rapid.Bool().Draw(rt, "read between") {
					w.ReadOn(rapid.SampledFrom([]int{1, 3, 500}).Draw(rt, "page"))
				}
			}
			w.ReadOn(500)
			now, head := w.Items(), w.Head()
			if len(now) == 0 {
				return
			}
			for range 4 {
				position := rapid.Int64Range(1, head).Draw(rt, "position")
				then := w.ItemsAt(position)
				if len(then) == 0 {
					continue
				}
				holdItems(w, rt, position, then)
				about := then[rapid.SampledFrom(slices.Sorted(maps.Keys(then))).Draw(rt, "about")]
				a := Asking{T: rt}
				list := domain.List{By: a.Somebody(w.By), Filter: a.Filter(about), AsOf: position}
				if rapid.Bool().Draw(rt, "every status") {
					list.Filter.Statuses = slices.Clone(domain.Statuses)
				}
				list.Filter.Statuses = slices.DeleteFunc(list.Filter.Statuses, func(s domain.Status) bool {
					return s.Withheld() && !list.By.SeesAll() // which lists of the past have for owners only
				})
				holdList(w, rt, list, shown(list, then, now))
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

func holdItems(w PastWorld, t *rapid.T, position int64, then map[string]*domain.Knowledge) {
	for id, want := range then {
		got := Must(w.Past.Find(w.T.Context(), w.By.Tenant, id, position))(t)
		if diff := gocmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s at %d (-got +want):\n%s", id, position, diff)
		}
	}
}

func holdList(w PastWorld, t *rapid.T, list domain.List, want []*domain.Knowledge) {
	var got []*domain.Knowledge
	list.Limit = 2
	for {
		page := Must(w.Past.List(w.T.Context(), list))(t)
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
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Fill(NewCorpus(3), 40)
		revise(w, NewCorpus(4), 40, 40)
		w.ReadOn(70)
		head, now := w.Head(), w.Items()
		truths := map[int64]Everything{}
		rapid.Check(t, func(rt *rapid.T) {
			position := head * rapid.Int64Range(2, 8).Draw(rt, "eighths") / 8
			truth, known := truths[position]
			if !known {
				truth = Known(w.World, w.ItemsAt(position))
				forgetMissing(w, truth)
				truths[position] = truth
			}
			s := Asking{T: rt}.Search(w.World, truth)
			s.AsOf = position
			least := MinScore
			if s.MinScore != nil {
				least = *s.MinScore
			}
			may := Everything{}
			for id, k := range truth {
				if s.By.MaySee(now[id]) && !now[id].Status.Withheld() {
					may[id] = k
				}
			}
			answer := Must(w.Past.Search(t.Context(), s))(rt)
			want := may.Hits(w.World, s)
			if wrong := NewVerdict(s, want, least).Complaint(answer.Hits); wrong != "" {
				rt.Errorf("%s\nsearch %+v\nanswer %s\ntruth %s", wrong, s, Listed(answer.Hits), Listed(SearchableScopes(want)))
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
func forgetMissing(w PastWorld, truth Everything) {
	w.T.Helper()
	made := map[string]bool{}
	for _, row := range w.Table("SELECT text_hash FROM vectors_1 WHERE tenant = ?", w.By.Tenant) {
		made[string(row["text_hash"].([]byte))] = true
	}
	for _, k := range truth {
		var vectors [][]float32
		for i, said := range k.Said {
			if hash := sha256.Sum256([]byte(said)); made[string(hash[:])] {
				vectors = append(vectors, k.Vectors[i])
			}
		}
		k.Vectors = vectors
	}
}

// revise lets all sorts of things happen to the corpus, each understood before the next.
func revise(w PastWorld, c Corpus, items, times int) {
	w.T.Helper()
	for range times {
		target := domain.Target{By: w.By, ID: fmt.Sprint("i", c.IntN(items))}
		scope := Scopes[c.IntN(len(Scopes))]
		content := "revised " + c.Question("a word about payments and deployments")
		command := []domain.Command{
			domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
			domain.Revise{Target: target, Scopes: []domain.Scope{scope}},
			domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: content},
			domain.ReportStale{Target: target},
			domain.Delete{Target: target},
			domain.Restore{Target: target},
		}[c.IntN(6)]
		_, err := w.Log.Submit(w.T.Context(), domain.Submission{Command: command, By: w.By})
		if err != nil && !errors.Is(err, domain.ErrDeleted) && !errors.Is(err, domain.ErrConflict) {
			w.T.Fatal(err)
		}
		w.Understand()
	}
}

// erasing destroys an item's text, as far as the log is concerned.
type erasing struct{ domain.Target }

func (e erasing) Decide(domain.DecisionContext, time.Time) ([]domain.Fact, error) {
	return []domain.Fact{domain.Erased{ReasonCode: "test"}}, nil
}

func TestThePastIsKnownAtTheHeadOfTheLogBeforeItIsRead(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Fill(NewCorpus(7), 10)
		head := w.Head()
		list := domain.List{By: w.By, AsOf: head, Limit: 3}
		search := Must(domain.Search{By: w.By, Text: NewCorpus(7).
			Question("a word about payments"), AsOf: head, MinScore: new(float64), Everyone: true, Copies: true}.Complete())(t)
		early := Must(w.Past.List(t.Context(), list))(t)
		earlyAnswer := Must(w.Past.Search(t.Context(), search))(t)
		w.ReadOn(500)
		page, err := w.Past.List(t.Context(), list)
		if diff := gocmp.Diff(early, page, ignored); diff != "" || err != nil || len(page.Items) != 3 || page.Next == 0 {
			t.Errorf("list, %v (-early +late):\n%s", err, diff)
		}
		answer, err := w.Past.Search(t.Context(), search)
		if diff := gocmp.Diff(Listed(earlyAnswer.Hits), Listed(answer.Hits)); diff != "" || err != nil ||
			len(answer.Hits) == 0 {
			t.Errorf("search, %v (-early +late):\n%s", err, diff)
		}
		w.Remember("later", "what came later", domain.Public)
		if _, err := w.Past.List(t.Context(), domain.List{By: w.By, AsOf: w.Head() - 1}); err != nil {
			t.Errorf("what was read: %v", err)
		}
	})
}

func TestThePastIsTheSameWhenItIsComputedAgain(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Fill(NewCorpus(5), 30)
		revise(w, NewCorpus(6), 30, 60)
		w.Submit(erasing{domain.Target{By: w.By, ID: "i7"}})
		w.Submit(erasing{domain.Target{By: w.By, ID: "i8"}})
		w.ReadOn(1)
		before := w.PastTables()
		NoError(t, w.Past.BeginAnew(t.Context(), w.By.Tenant))
		_, err := w.Past.List(t.Context(), domain.List{By: w.By, AsOf: 3})
		if !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("a list while nothing is read gives %v", err)
		}
		w.ReadOn(500)
		Equal(t, w.PastTables(), before, "(-rebuilt +live)")
		number := w.Items()["i7"].Number
		if said := said(w, number); said != "0 words, 0 pieces, 0 places" {
			t.Errorf("of what was erased there is %s", said)
		}
		page, err := w.Past.List(t.Context(), domain.List{By: w.By, AsOf: number, Limit: 1})
		if err != nil || len(page.Items) > 0 && page.Items[0].ID == "i7" {
			t.Errorf("listed %v, %v", page.Items, err)
		}
		page, err = w.Past.List(t.Context(), domain.List{
			By: w.By, AsOf: number, Limit: 1,
			Filter: domain.Filter{Statuses: []domain.Status{domain.IsErased}},
		})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != "i7" || page.Items[0].Status != domain.IsErased {
			t.Errorf("tombstones are %v, %v", page.Items, err)
		}
	})
}

// said counts what could still tell what an item said.
func said(w PastWorld, number int64) string {
	w.T.Helper()
	var words, pieces, places int
	NoError(w.T, w.DB.QueryRowContext(w.T.Context(), `
		SELECT
			(SELECT count(*) FROM past_1_words WHERE tenant = ? AND number = ?),
			(SELECT count(*) FROM past_1_pieces WHERE tenant = ? AND number = ?),
			(SELECT coalesce(sum(content_at + task_at + tags_at + uri_at), 0) FROM past_1 WHERE tenant = ? AND number = ?)`,
		w.By.Tenant, number, w.By.Tenant, number, w.By.Tenant, number).Scan(&words, &pieces, &places))
	return fmt.Sprintf("%d words, %d pieces, %d places", words, pieces, places)
}
