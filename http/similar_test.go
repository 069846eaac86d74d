package http_test

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

// resembles are the kinds of the similar items of an answer, by id.
func resembles(a *Answer) map[string]any {
	kinds := map[string]any{}
	list, _ := a.JSON()["similar"].([]any)
	for _, s := range list {
		kinds[fmt.Sprint(Pick(s.(Object), "id"))] = Pick(s.(Object), "kind")
	}
	return kinds
}

func TestTheAnswerToANewItemNamesSimilarOnes(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("first", "checkout-api is deployed on Tuesdays at 14:00")
		w.Remember("other", "The printer on floor 3 needs toner")
		const remember = "/v1/knowledge?on_similar=report"
		got := w.Ask("POST", remember, Item("same", "Deployment of checkout-api: Tuesday, 2 pm")).Want(http.StatusCreated)
		Same(t, resembles(got), map[string]any{"first": "duplicate"})
		got = w.Ask("POST", remember, Item("day", "checkout-api is deployed on Thursdays at 14:00")).Want(http.StatusCreated)
		Same(t, resembles(got), map[string]any{"first": "contradiction", "same": "contradiction"})
		Same(t, resembles(w.Ask("GET", "/v1/knowledge/day", nil).Want(http.StatusOK)), map[string]any{})
	})
}

func TestASimilarItemIsRefusedOrLinked(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("first", "checkout-api is deployed on Tuesdays at 14:00")
		const again, otherwise = "Deployment of checkout-api: Tuesday, 2 pm", "checkout-api is deployed on Thursdays at 14:00"
		refused := w.Ask("POST", "/v1/knowledge?on_similar=refuse", Item("b", again)).Want(http.StatusConflict).JSON()
		Same(t, []any{refused["type"], refused["detail"]}, []any{"urn:annals:problem:similar", "first says the same"})
		refused = w.Ask("POST", "/v1/knowledge?on_similar=refuse", Item("b", otherwise)).Want(http.StatusConflict).JSON()
		Same(t, refused["detail"], "first contradicts it")
		linked := w.Ask("POST", "/v1/knowledge?on_similar=link", Item("b", again)).Want(http.StatusCreated).JSON()
		Same(t, Pick(linked["relations"].([]any)[0].(Object), "to"), "first")
		w.Ask("POST", "/v1/knowledge?on_similar=report", Item("c", again)).Want(http.StatusCreated)

		// another audience does not learn of it, and what was forgotten does not count
		private := Object{"type": "tool", "content": again, "scopes": []string{"user:eve"}, "owner": "user:eve"}
		w.Ask("POST", "/v1/knowledge?on_similar=refuse", private).Want(http.StatusCreated)
		for _, id := range []string{"first", "b", "c"} {
			w.Ask("DELETE", "/v1/knowledge/"+id, nil).Want(http.StatusNoContent)
		}
		const key = Header("Idempotency-Key: k")
		w.Ask("POST", "/v1/knowledge?on_similar=refuse", Item("d", again), key).Want(http.StatusCreated)
		replayed := w.Ask("POST", "/v1/knowledge?on_similar=refuse", Item("d", again), key).Want(http.StatusCreated)
		Same(t, []any{replayed.Header.Get("Idempotent-Replayed"), len(resembles(replayed))}, []any{"true", 0})

		problems := w.Ask("POST", "/v1/knowledge?on_similar=merge", Item("e", "x")).Want(http.StatusUnprocessableEntity).Errors()
		Same(t, problems, []string{"on_similar: must be one of report, link, refuse, vote"})
		problems = w.Ask("POST", "/v1/knowledge?on_similar=refuse", []Object{Item("e", "x")}).Want(http.StatusUnprocessableEntity).Errors()
		Same(t, problems, []string{"on_similar: is for one item: send what it is for by itself"})
	})
}

func TestOfManyWhoRememberTheSameAtOnceOnlyOneSucceeds(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		got := Race(func(client int) []*Answer {
			return []*Answer{w.Ask("POST", "/v1/knowledge?on_similar=refuse", Item(fmt.Sprint("r", client), "Retry 429s twice."))}
		})
		Same(t, got, map[int]int{http.StatusCreated: 1, http.StatusConflict: 19})
	})
}

func TestANewItemTakesTheOthersPlaceOrIsNotRemembered(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const key = Header("Idempotency-Key: k")
		hers := Item("hers", "checkout-api is deployed on Tuesdays")
		hers["owner"], hers["scopes"] = "user:eve", []string{"public"}
		w.Ask("POST", "/v1/knowledge", hers).Want(http.StatusCreated)
		mine := Item("mine", "checkout-api is deployed on Thursdays")
		for query, want := range map[string]int{
			"supersedes=nobody": http.StatusNotFound, "supersedes=mine": http.StatusUnprocessableEntity,
			"supersedes=hers&on_similar=vote": http.StatusUnprocessableEntity,
			"supersedes=no!":                  http.StatusUnprocessableEntity,
		} {
			w.Ask("POST", "/v1/knowledge?"+query, mine).Want(want)
		}
		w.Ask("GET", "/v1/knowledge/mine", nil).Want(http.StatusNotFound)
		for range 2 {
			w.Ask("POST", "/v1/knowledge?supersedes=hers", mine, key).Want(http.StatusCreated)
		}
		Same(t, w.Ask("GET", "/v1/knowledge/hers", nil).Want(http.StatusOK).JSON()["superseded_by"], "mine")
		events := w.Ask("GET", "/v1/events?stream=knowledge:hers", nil).Want(http.StatusOK).JSON()["items"].([]any)
		Same(t, len(events), 2)
		problems := w.Ask("POST", "/v1/knowledge?supersedes=hers", []Object{Item("e", "x")}).Want(http.StatusUnprocessableEntity).Errors()
		Same(t, problems, []string{"supersedes: is for one item: send what it is for by itself"})
	})
}
