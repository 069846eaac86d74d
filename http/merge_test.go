package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const window = "/v1/knowledge/window"

// names are the names of an item's events.
func (w *world) names(id string, headers ...header) (names []string) {
	w.t.Helper()
	for _, event := range w.ask("GET", "/v1/knowledge/"+id+"/history", nil, headers...).want(http.StatusOK).items() {
		names = append(names, strings.TrimPrefix(event["name"].(string), "knowledge."))
	}
	return names
}

func TestAMergeIsOneChangeThatCanBeUndone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("window", "We deploy on Tuesdays.")
		w.remember("other", "Deploys are on Tuesday.")
		w.remember("third", "Deployment day: Tuesday.")
		w.voted("other", "helpful", "ann", "ben")
		w.voted("third", "harmful", "ann")
		w.remember("base", "Something else.")
		before := w.ask("GET", window, nil).json()

		merged := w.ask("POST", window+"/merge", object{
			"items": []string{"other", "third"}, "content": "We deploy on Tuesdays, at ten.", "carry_votes": true, "reason": "the same",
		}).want(http.StatusOK)
		like(t, merged.json(), object{
			"content": "We deploy on Tuesdays, at ten.", "eval": object{"helpful": 3.0, "harmful": 1.0}, "revision": 3.0,
		})
		same(t, len(merged.json()["derived_from"].([]any)), 2)
		same(t, w.names("window"), []string{"remembered", "merged", "revised"})
		same(t, w.names("third"), []string{"remembered", "found_harmful", "superseded"})
		history := w.ask("GET", window+"/history", nil).items()
		like(t, history[1], object{
			"reason": "the same", "data": object{"items": []any{"other", "third"}, "helpful": 2.0, "harmful": 1.0},
			"changes": []any{object{"field": "eval.helpful"}, object{"field": "eval.harmful"}, object{"field": "eval.confidence"}},
		})
		caused := w.ask("GET", "/v1/knowledge/other/history", nil).items()[3]
		like(t, caused, object{"reason": "the same", "causation_id": history[1]["event_id"]})
		then := w.ask("GET", "/v1/knowledge?as_of="+merged.header.Get("Annals-Position"), nil).want(http.StatusOK)
		like(t, then.items()[1], object{"id": "window", "eval": object{"helpful": 3.0, "harmful": 1.0}})
		w.ask("POST", window+"/merge", object{"items": []string{"other", "base"}}).want(http.StatusConflict)
		same(t, len(w.names("base")), 1, "a refused merge changes nothing")

		key := header("Idempotency-Key: undo")
		undone := w.ask("POST", window+"/unmerge", object{"reason": "not the same"}, key).want(http.StatusOK)
		like(t, undone.json(), object{
			"content": before["content"], "eval": object{"helpful": 1.0, "harmful": 0.0, "confidence": pick(before, "eval", "confidence")},
		})
		same(t, w.names("window"), []string{"remembered", "merged", "revised", "unmerged", "revised"})
		for _, id := range []string{"other", "third"} {
			like(t, w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusOK).json(), object{"status": "active"})
		}
		again := w.ask("POST", window+"/unmerge", object{"reason": "not the same"}, key).want(http.StatusOK)
		same(t, again.header.Get("Idempotent-Replayed"), "true")
		w.ask("POST", window+"/unmerge", nil).want(http.StatusConflict)
	})
}

func TestAMergeIsUndoneAsFarAsNothingElseHappenedSince(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, id := range []string{"window", "first", "second", "third"} {
			w.remember(id, "We deploy, says "+id+".")
		}
		w.ask("POST", window+"/merge", object{"items": []string{"first", "second"}, "content": "Merged."}).want(http.StatusOK)
		w.ask("POST", window+"/merge", object{"items": []string{"third"}, "task": "deploying"}, `If-Match: "1"`).
			want(http.StatusPreconditionFailed)
		w.ask("PATCH", "/v1/knowledge/third", object{"content": "We deploy on Fridays."}).want(http.StatusOK)
		refused := w.ask("POST", window+"/merge", object{"items": []string{"third"}, "revisions": []int{1}})
		like(t, refused.want(http.StatusPreconditionFailed).json(), object{"detail": "third is at revision 2, not 1"})
		w.ask("POST", window+"/merge", object{"items": []string{"third"}, "revisions": []int{2}, "task": "deploying"}, `If-Match: "3"`).want(http.StatusOK)
		w.ask("POST", window+"/unmerge", nil).want(http.StatusOK) // the second merge
		like(t, w.ask("GET", window, nil).json(), object{"content": "Merged."})
		like(t, w.ask("GET", "/v1/knowledge/third", nil).json(), object{"status": "active"})

		w.ask("PATCH", window, object{"content": "Edited."}).want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/first", nil).want(http.StatusNoContent)
		w.ask("POST", window+"/unmerge", nil).want(http.StatusOK)
		like(t, w.ask("GET", window, nil).json(), object{"content": "Edited."})
		w.ask("GET", "/v1/knowledge/first", nil).want(http.StatusGone)
		like(t, w.ask("GET", "/v1/knowledge/second", nil).json(), object{"status": "active"})
	})
}

func TestARefusedMergeNamesEveryItem(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia := bearer(w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}}))
		ben := bearer(w.given(admin, object{"subject": "user:ben", "memberships": []string{"team:pay"}}))
		for i, by := range []header{mia, ben, ben} {
			w.ask("POST", "/v1/knowledge", object{
				"id": fmt.Sprint("k", i), "type": "tool", "content": fmt.Sprint("about ", i), "scopes": []string{"team:pay"},
			}, by).want(http.StatusCreated)
		}
		like(t, w.ask("POST", "/v1/knowledge/k0/merge", object{"items": []string{"k1", "k2"}}, mia).want(http.StatusForbidden).json(),
			object{"detail": "k1 belongs to user:ben; k2 belongs to user:ben"})
		like(t, w.ask("POST", "/v1/knowledge/k0/merge", object{"items": []string{"k0", "k1", "k1", "?"}}, mia).json(),
			object{"errors": []any{object{"field": "items[2]"}, object{"field": "items[3]"}, object{"field": "items"}}})
		like(t, w.ask("POST", "/v1/knowledge/k0/merge", object{"items": []string{"no", "none"}}, mia).json(),
			object{"errors": []any{object{"field": "items[0]"}, object{"field": "items[1]"}}})
		same(t, len(w.names("k1", ben)), 1)
		w.ask("POST", "/v1/knowledge", object{"id": "own", "type": "tool", "content": "mine"}, mia).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge/k0/merge", object{"items": []string{"own"}}, mia).want(http.StatusOK)
		for _, path := range []string{
			"/v1/knowledge/k0/history", "/v1/events?stream=knowledge:k0",
		} {
			like(t, w.ask("GET", path, nil, mia).items()[1], object{"data": object{"items": []any{"own"}, "hidden_items": nil}})
			like(t, w.ask("GET", path, nil, ben).items()[1], object{"data": object{"items": []any{}, "hidden_items": 1.0}})
		}
		_, followed := w.follow("/v1/events?name=knowledge.merged&after=0", ben).next("")
		like(t, followed, object{"data": object{"items": []any{}, "hidden_items": 1.0}})
		w.ask("POST", "/v1/knowledge/k0/unmerge", nil, mia).want(http.StatusOK)

		proposal := object{"kind": "contradiction", "items": []string{"k1", "k0"}, "reason": "which one?"}
		w.ask("POST", "/v1/reviews/proposals", object{"kind": "other", "items": []string{"k1"}}, mia).want(http.StatusUnprocessableEntity)
		proposed := w.ask("POST", "/v1/reviews/proposals", proposal, mia).want(http.StatusOK)
		like(t, proposed.json(), object{"items": []any{"k0", "k1"}, "by": "user:mia", "kind": "contradiction"})
		same(t, w.ask("POST", "/v1/reviews/proposals", proposal, ben).want(http.StatusOK).header.Get("Annals-Outcome"), "unchanged")
		w.ask("POST", "/v1/reviews/proposals", object{"kind": "duplicate", "items": []string{"k0", "k1", "k2"}}, mia).want(http.StatusOK)
		reviews := w.ask("GET", "/v1/reviews", nil, ben)
		same(t, waits(reviews), []string{"k1: contradiction", "k2: duplicate"})
		like(t, reviews.items()[0], object{"pair": object{
			"proposal": proposed.json()["id"], "kind": "contradiction", "items": []any{object{"id": "k0"}},
		}})
		same(t, waits(w.ask("GET", "/v1/reviews?owner=user:mia&queue=contradiction", nil, mia)), []string{"k0: contradiction duplicate"})
		stranger := bearer(w.given(admin, object{"subject": "user:eve"}))
		same(t, len(waits(w.ask("GET", "/v1/reviews", nil, stranger))), 0)
		closing := "/v1/reviews/proposals/" + proposed.json()["id"].(string) + "/close"
		w.ask("POST", closing, object{"outcome": "distinct"}, stranger).want(http.StatusNotFound)
		like(t, w.ask("POST", closing, object{"outcome": "distinct", "reason": "two services"}, ben).want(http.StatusOK).json(),
			object{"outcome": "distinct"})
		w.ask("POST", closing, object{"outcome": "dismissed"}, ben).want(http.StatusConflict)
		w.ask("POST", "/v1/knowledge/k0/merge", object{"items": []string{"k1", "k2"}}, bearer(admin)).want(http.StatusOK)
		same(t, len(waits(w.ask("GET", "/v1/reviews", nil, ben))), 0)
		like(t, w.ask("POST", "/v1/reviews/proposals", proposal, bearer(admin)).want(http.StatusUnprocessableEntity).json(),
			object{"errors": []any{object{"field": "items[0]"}}})
	})
}
