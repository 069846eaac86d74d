package http_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// resembles are the kinds of the similar items of an answer, by id.
func resembles(a *answer) map[string]any {
	kinds := map[string]any{}
	list, _ := a.json()["similar"].([]any)
	for _, s := range list {
		kinds[fmt.Sprint(pick(s.(object), "id"))] = pick(s.(object), "kind")
	}
	return kinds
}

func TestTheAnswerToANewItemNamesSimilarOnes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("first", "checkout-api is deployed on Tuesdays at 14:00")
		w.remember("other", "The printer on floor 3 needs toner")
		const remember = "/v1/knowledge?on_similar=report"
		got := w.ask("POST", remember, item("same", "Deployment of checkout-api: Tuesday, 2 pm")).want(http.StatusCreated)
		same(t, resembles(got), map[string]any{"first": "duplicate"})
		got = w.ask("POST", remember, item("day", "checkout-api is deployed on Thursdays at 14:00")).want(http.StatusCreated)
		same(t, resembles(got), map[string]any{"first": "contradiction", "same": "contradiction"})
		same(t, resembles(w.ask("GET", "/v1/knowledge/day", nil).want(http.StatusOK)), map[string]any{})
	})
}

func TestASimilarItemIsRefusedOrLinked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("first", "checkout-api is deployed on Tuesdays at 14:00")
		const again, otherwise = "Deployment of checkout-api: Tuesday, 2 pm", "checkout-api is deployed on Thursdays at 14:00"
		refused := w.ask("POST", "/v1/knowledge?on_similar=refuse", item("b", again)).want(http.StatusConflict).json()
		same(t, []any{refused["type"], refused["detail"]}, []any{"urn:annals:problem:similar", "first says the same"})
		refused = w.ask("POST", "/v1/knowledge?on_similar=refuse", item("b", otherwise)).want(http.StatusConflict).json()
		same(t, refused["detail"], "first contradicts it")
		linked := w.ask("POST", "/v1/knowledge?on_similar=link", item("b", again)).want(http.StatusCreated).json()
		same(t, pick(linked["relations"].([]any)[0].(object), "to"), "first")
		w.ask("POST", "/v1/knowledge?on_similar=report", item("c", again)).want(http.StatusCreated)

		// another audience does not learn of it, and what was forgotten does not count
		private := object{"type": "tool", "content": again, "scopes": []string{"user:eve"}, "owner": "user:eve"}
		w.ask("POST", "/v1/knowledge?on_similar=refuse", private).want(http.StatusCreated)
		for _, id := range []string{"first", "b", "c"} {
			w.ask("DELETE", "/v1/knowledge/"+id, nil).want(http.StatusNoContent)
		}
		const key = header("Idempotency-Key: k")
		w.ask("POST", "/v1/knowledge?on_similar=refuse", item("d", again), key).want(http.StatusCreated)
		replayed := w.ask("POST", "/v1/knowledge?on_similar=refuse", item("d", again), key).want(http.StatusCreated)
		same(t, []any{replayed.header.Get("Idempotent-Replayed"), len(resembles(replayed))}, []any{"true", 0})

		problems := w.ask("POST", "/v1/knowledge?on_similar=merge", item("e", "x")).want(http.StatusUnprocessableEntity).errors()
		same(t, problems, []string{"on_similar: must be one of report, link, refuse, vote"})
		problems = w.ask("POST", "/v1/knowledge?on_similar=refuse", []object{item("e", "x")}).want(http.StatusUnprocessableEntity).errors()
		same(t, problems, []string{"on_similar: is for one item: send what it is for by itself"})
	})
}

func TestOfManyWhoRememberTheSameAtOnceOnlyOneSucceeds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		statuses := make([]int, 20)
		var racing sync.WaitGroup
		for i := range statuses {
			racing.Go(func() {
				statuses[i] = w.ask("POST", "/v1/knowledge?on_similar=refuse", item(fmt.Sprint("r", i), "Retry 429s twice.")).status
			})
		}
		racing.Wait()
		count := map[int]int{}
		for _, status := range statuses {
			count[status]++
		}
		same(t, count, map[int]int{http.StatusCreated: 1, http.StatusConflict: 19})
	})
}

func TestANewItemTakesTheOthersPlaceOrIsNotRemembered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const key = header("Idempotency-Key: k")
		hers := item("hers", "checkout-api is deployed on Tuesdays")
		hers["owner"], hers["scopes"] = "user:eve", []string{"public"}
		w.ask("POST", "/v1/knowledge", hers).want(http.StatusCreated)
		mine := item("mine", "checkout-api is deployed on Thursdays")
		for query, want := range map[string]int{
			"supersedes=nobody": http.StatusNotFound, "supersedes=mine": http.StatusUnprocessableEntity,
			"supersedes=hers&on_similar=vote": http.StatusUnprocessableEntity,
			"supersedes=no!":                  http.StatusUnprocessableEntity,
		} {
			w.ask("POST", "/v1/knowledge?"+query, mine).want(want)
		}
		w.ask("GET", "/v1/knowledge/mine", nil).want(http.StatusNotFound)
		for range 2 {
			w.ask("POST", "/v1/knowledge?supersedes=hers", mine, key).want(http.StatusCreated)
		}
		same(t, w.ask("GET", "/v1/knowledge/hers", nil).want(http.StatusOK).json()["superseded_by"], "mine")
		events := w.ask("GET", "/v1/events?stream=knowledge:hers", nil).want(http.StatusOK).json()["items"].([]any)
		same(t, len(events), 2)
		problems := w.ask("POST", "/v1/knowledge?supersedes=hers", []object{item("e", "x")}).want(http.StatusUnprocessableEntity).errors()
		same(t, problems, []string{"supersedes: is for one item: send what it is for by itself"})
	})
}
