package reports_test

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

const window = "/v1/knowledge/window"

func TestAMergeIsOneChangeThatCanBeUndone(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("window", "We deploy on Tuesdays.")
		w.Remember("other", "Deploys are on Tuesday.")
		w.Remember("third", "Deployment day: Tuesday.")
		voted(w, "other", "helpful", "ann", "ben")
		voted(w, "third", "harmful", "ann")
		w.Remember("base", "Something else.")
		before := w.Ask("GET", window, nil).JSON()

		merged := w.Ask("POST", window+"/merge", Object{
			"items": []string{"other", "third"}, "content": "We deploy on Tuesdays, at ten.", "carry_votes": true, "reason": "the same",
		}).Want(http.StatusOK)
		Like(t, merged.JSON(), Object{
			"content": "We deploy on Tuesdays, at ten.", "eval": Object{"helpful": 3.0, "harmful": 1.0}, "revision": 3.0,
		})
		Same(t, len(merged.JSON()["derived_from"].([]any)), 2)
		Same(t, w.Names("window"), []string{"remembered", "merged", "revised"})
		Same(t, w.Names("third"), []string{"remembered", "found_harmful", "superseded"})
		history := w.Ask("GET", window+"/history", nil).Items()
		Like(t, history[1], Object{
			"reason": "the same", "data": Object{"items": []any{"other", "third"}, "helpful": 2.0, "harmful": 1.0},
			"changes": []any{Object{"field": "eval.helpful"}, Object{"field": "eval.harmful"}, Object{"field": "eval.confidence"}},
		})
		caused := w.Ask("GET", "/v1/knowledge/other/history", nil).Items()[3]
		Like(t, caused, Object{"reason": "the same", "causation_id": history[1]["event_id"]})
		then := w.Ask("GET", "/v1/knowledge?as_of="+merged.Header.Get("Annals-Position"), nil).Want(http.StatusOK)
		Like(t, then.Items()[1], Object{"id": "window", "eval": Object{"helpful": 3.0, "harmful": 1.0}})
		w.Ask("POST", window+"/merge", Object{"items": []string{"other", "base"}}).Want(http.StatusConflict)
		Same(t, len(w.Names("base")), 1, "a refused merge changes nothing")

		key := Header("Idempotency-Key: undo")
		undone := w.Ask("POST", window+"/unmerge", Object{"reason": "not the same"}, key).Want(http.StatusOK)
		Like(t, undone.JSON(), Object{
			"content": before["content"], "eval": Object{"helpful": 1.0, "harmful": 0.0, "confidence": Pick(before, "eval", "confidence")},
		})
		Same(t, w.Names("window"), []string{"remembered", "merged", "revised", "unmerged", "revised"})
		for _, id := range []string{"other", "third"} {
			Like(t, w.Ask("GET", "/v1/knowledge/"+id, nil).Want(http.StatusOK).JSON(), Object{"status": "active"})
		}
		again := w.Ask("POST", window+"/unmerge", Object{"reason": "not the same"}, key).Want(http.StatusOK)
		Same(t, again.Header.Get("Idempotent-Replayed"), "true")
		w.Ask("POST", window+"/unmerge", nil).Want(http.StatusConflict)
	})
}

func TestAMergeIsUndoneAsFarAsNothingElseHappenedSince(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for _, id := range []string{"window", "first", "second", "third"} {
			w.Remember(id, "We deploy, says "+id+".")
		}
		w.Ask("POST", window+"/merge", Object{"items": []string{"first", "second"}, "content": "Merged."}).Want(http.StatusOK)
		w.Ask("POST", window+"/merge", Object{"items": []string{"third"}, "task": "deploying"}, `If-Match: "1"`).
			Want(http.StatusPreconditionFailed)
		w.Ask("PATCH", "/v1/knowledge/third", Object{"content": "We deploy on Fridays."}).Want(http.StatusOK)
		refused := w.Ask("POST", window+"/merge", Object{"items": []string{"third"}, "revisions": []int{1}})
		Like(t, refused.Want(http.StatusPreconditionFailed).JSON(), Object{"detail": "third is at revision 2, not 1"})
		w.Ask("POST", window+"/merge", Object{"items": []string{"third"}, "revisions": []int{2}, "task": "deploying"}, `If-Match: "3"`).Want(http.StatusOK)
		w.Ask("POST", window+"/unmerge", nil).Want(http.StatusOK) // the second merge
		Like(t, w.Ask("GET", window, nil).JSON(), Object{"content": "Merged."})
		Like(t, w.Ask("GET", "/v1/knowledge/third", nil).JSON(), Object{"status": "active"})

		w.Ask("PATCH", window, Object{"content": "Edited."}).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/first", nil).Want(http.StatusNoContent)
		w.Ask("POST", window+"/unmerge", nil).Want(http.StatusOK)
		Like(t, w.Ask("GET", window, nil).JSON(), Object{"content": "Edited."})
		w.Ask("GET", "/v1/knowledge/first", nil).Want(http.StatusGone)
		Like(t, w.Ask("GET", "/v1/knowledge/second", nil).JSON(), Object{"status": "active"})
	})
}

func TestARefusedMergeNamesEveryItem(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.GivenTo("user:mia", admin, "team:pay")
		ben := w.GivenTo("user:ben", admin, "team:pay")
		for i, by := range []Header{mia, ben, ben} {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": fmt.Sprint("k", i), "type": "tool", "content": fmt.Sprint("about ", i), "scopes": []string{"team:pay"},
			}, by).Want(http.StatusCreated)
		}
		Like(t, w.Ask("POST", "/v1/knowledge/k0/merge", Object{"items": []string{"k1", "k2"}}, mia).Want(http.StatusForbidden).JSON(),
			Object{"detail": "k1 belongs to user:ben; k2 belongs to user:ben"})
		Like(t, w.Ask("POST", "/v1/knowledge/k0/merge", Object{"items": []string{"k0", "k1", "k1", "?"}}, mia).JSON(),
			Object{"errors": []any{Object{"field": "items[2]"}, Object{"field": "items[3]"}, Object{"field": "items"}}})
		Like(t, w.Ask("POST", "/v1/knowledge/k0/merge", Object{"items": []string{"no", "none"}}, mia).JSON(),
			Object{"errors": []any{Object{"field": "items[0]"}, Object{"field": "items[1]"}}})
		Same(t, len(w.Names("k1", ben)), 1)
		w.Ask("POST", "/v1/knowledge", Object{"id": "own", "type": "tool", "content": "mine"}, mia).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge/k0/merge", Object{"items": []string{"own"}}, mia).Want(http.StatusOK)
		for _, path := range []string{
			"/v1/knowledge/k0/history", "/v1/events?stream=knowledge:k0",
		} {
			Like(t, w.Ask("GET", path, nil, mia).Items()[1], Object{"data": Object{"items": []any{"own"}, "hidden_items": nil}})
			Like(t, w.Ask("GET", path, nil, ben).Items()[1], Object{"data": Object{"items": []any{}, "hidden_items": 1.0}})
		}
		_, followed := w.Listen("/v1/events?name=knowledge.merged&after=0", ben).Next("")
		Like(t, followed, Object{"data": Object{"items": []any{}, "hidden_items": 1.0}})
		w.Ask("POST", "/v1/knowledge/k0/unmerge", nil, mia).Want(http.StatusOK)

		proposal := Object{"kind": "contradiction", "items": []string{"k1", "k0"}, "reason": "which one?"}
		w.Ask("POST", "/v1/reviews/proposals", Object{"kind": "other", "items": []string{"k1"}}, mia).Want(http.StatusUnprocessableEntity)
		proposed := w.Ask("POST", "/v1/reviews/proposals", proposal, mia).Want(http.StatusOK)
		Like(t, proposed.JSON(), Object{"items": []any{"k0", "k1"}, "by": "user:mia", "kind": "contradiction"})
		Same(t, w.Ask("POST", "/v1/reviews/proposals", proposal, ben).Want(http.StatusOK).Header.Get("Annals-Outcome"), "unchanged")
		w.Ask("POST", "/v1/reviews/proposals", Object{"kind": "duplicate", "items": []string{"k0", "k1", "k2"}}, mia).Want(http.StatusOK)
		reviews := w.Ask("GET", "/v1/reviews", nil, ben)
		Same(t, waits(reviews), []string{"k1: contradiction", "k2: duplicate"})
		Like(t, reviews.Items()[0], Object{"pair": Object{
			"proposal": proposed.JSON()["id"], "kind": "contradiction", "items": []any{Object{"id": "k0"}},
		}})
		Same(t, waits(w.Ask("GET", "/v1/reviews?owner=user:mia&queue=contradiction", nil, mia)), []string{"k0: contradiction duplicate"})
		stranger := w.GivenTo("user:eve", admin)
		Same(t, len(waits(w.Ask("GET", "/v1/reviews", nil, stranger))), 0)
		closing := "/v1/reviews/proposals/" + proposed.JSON()["id"].(string) + "/close"
		w.Ask("POST", closing, Object{"outcome": "distinct"}, stranger).Want(http.StatusNotFound)
		Like(t, w.Ask("POST", closing, Object{"outcome": "distinct", "reason": "two services"}, ben).Want(http.StatusOK).JSON(),
			Object{"outcome": "distinct"})
		w.Ask("POST", closing, Object{"outcome": "dismissed"}, ben).Want(http.StatusConflict)
		w.Ask("POST", "/v1/knowledge/k0/merge", Object{"items": []string{"k1", "k2"}}, Bearer(admin)).Want(http.StatusOK)
		Same(t, len(waits(w.Ask("GET", "/v1/reviews", nil, ben))), 0)
		Like(t, w.Ask("POST", "/v1/reviews/proposals", proposal, Bearer(admin)).Want(http.StatusUnprocessableEntity).JSON(),
			Object{"errors": []any{Object{"field": "items[0]"}}})
	})
}

func TestRacingMergesOfOverlappingPairsSupersedeEachItemOnce(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const items = 10
		id := func(i int) string { return fmt.Sprint("k", i%items) }
		for i := range items {
			w.Remember(id(i), fmt.Sprint("About ", i))
		}
		got := Race(func(client int) []*Answer {
			into, other, revision := id(client), id(client+1), []Header{}
			if client >= items {
				other, revision = id(client+3), []Header{`If-Match: "1"`}
			}
			return []*Answer{w.Ask("POST", "/v1/knowledge/"+into+"/merge", Object{"items": []string{other}}, revision...)}
		})
		Only(t, got, http.StatusOK, http.StatusConflict, http.StatusPreconditionFailed)
		superseded, merged := 0, 0
		for i := range items {
			times := map[string]int{}
			for _, name := range w.Names(id(i)) {
				times[name]++
			}
			if times["superseded"] > 1 {
				t.Errorf("%s was superseded %d times", id(i), times["superseded"])
			}
			superseded, merged = superseded+times["superseded"], merged+times["merged"]
			last := id(i)
			for range items + 1 {
				by, _ := w.Ask("GET", "/v1/knowledge/"+last, nil).Want(http.StatusOK).JSON()["superseded_by"].(string)
				if by == "" {
					last = ""
					break
				}
				last = by
			}
			Same(t, last, "", "a cycle from", id(i), "through")
		}
		Same(t, []int{superseded, merged}, []int{got[http.StatusOK], got[http.StatusOK]}, "events of merges")
	})
}
