package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestAPatchChangesWhatItNames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", object{
			"id": "a", "type": "strategy", "content": "x", "task": "t", "abstract": "short", "category": "skills",
			"tags": object{"a": "1", "b": "2"}, "meta": object{"k": 1, "deep": object{"l": 2, "m": 3}},
		}).want(http.StatusCreated)
		got := w.ask("PATCH", "/v1/knowledge/a", object{
			"task": nil, "abstract": nil, "category": nil, "polarity": "negative", "type": "tool",
			"tags": object{"a": nil, "c": []string{"3", "4"}}, "meta": object{"k": nil, "deep": object{"l": nil}},
			"scopes": []string{"project:p", "user:default"}, "visibility": "shared", "owner": "project:p",
			"uri": "viking://agent/memories/tools/elsewhere.md",
		}, "Content-Type: application/merge-patch+json").want(http.StatusOK)
		o := got.json()
		for field, want := range (object{
			"task": nil, "abstract": nil, "category": nil, "polarity": "negative", "type": "tool", "content": "x",
			"tags": object{"b": "2", "c": []any{"3", "4"}}, "meta": object{"deep": object{"m": 3.0}},
			"scopes": []any{"project:p", "user:default"}, "visibility": "shared", "owner": "project:p",
			"uri": "viking://agent/memories/tools/elsewhere.md",
		}) {
			same(t, o[field], want, field)
		}
		same(t, got.header.Get("Annals-Outcome"), "revised")
		same(t, got.header.Get("ETag"), `"5"`)
		already := object{"content": "x", "meta": object{"deep": object{"m": 3}}}
		unchanged := w.ask("PATCH", "/v1/knowledge/a", already).want(http.StatusOK)
		same(t, unchanged.header.Get("Annals-Outcome"), "unchanged")
		same(t, unchanged.header.Get("Annals-Position"), got.header.Get("Annals-Position"))
		labels := w.ask("PATCH", "/v1/knowledge/a", object{"tags": []string{"only"}}).want(http.StatusOK).json()
		same[any](t, labels["tags"], object{"labels": "only"})
		cleared := w.ask("PATCH", "/v1/knowledge/a", object{"tags": nil, "meta": nil}).want(http.StatusOK).json()
		like(t, cleared, object{"tags": nil, "meta": nil})
	})
}

func TestABadPatchNamesEveryFieldAndChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		got := w.ask("PATCH", "/v1/knowledge/a", `{"content": null, "type": null, "scopes": null, "owner": null, "uri": null,
			"status": "active", "tags": {"a": 1}, "visibility": "secret", "polarity": 0, "context_type": "skill"}`).want(http.StatusUnprocessableEntity)
		want := []string{
			"status: is not a field here",
			"tags.a: must be a string or an array of strings",
			"polarity: must be a string",
			"context_type: is not a field here",
			"owner: cannot be taken away",
			"uri: cannot be taken away",
			"scopes: cannot be taken away",
			"type: must be one of user_profile, strategy, tool, usecase, definition, plan",
			"content: must not be empty",
			"visibility: must be one of private, shared, org, public",
		}
		same(t, got.errors(), want)
		w.ask("PATCH", "/v1/knowledge/a", object{"visibility": "public"}).want(http.StatusUnprocessableEntity)
		w.ask("PATCH", "/v1/knowledge/a", "[]").want(http.StatusUnprocessableEntity)
		w.ask("PATCH", "/v1/knowledge/a", "").want(http.StatusBadRequest)
		same(t, w.ask("GET", "/v1/knowledge/a", nil).json()["revision"], 1.0)
	})
}

func TestIfMatchHoldsAChangeToTheRevisionThatWasRead(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
		w.remember("a", "one")
		change := func(content string, match header) *answer {
			return w.ask("PATCH", "/v1/knowledge/a", object{"content": content}, match)
		}
		change("two", `If-Match: "1"`).want(http.StatusOK)
		change("three", `If-Match: "1"`).want(http.StatusPreconditionFailed)
		change("three", `If-Match: W/"2"`).want(http.StatusPreconditionFailed)
		change("three", `If-Match: "x"`).want(http.StatusPreconditionFailed)
		change("three", `If-Match: 2`).want(http.StatusBadRequest)
		change("three", `If-Match: "1", W/"2"`).want(http.StatusPreconditionFailed)
		change("three", `If-Match: "1", "2"`).want(http.StatusOK)
		change("four", `If-Match: *`).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}).want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/a", nil, `If-Match: "3"`).want(http.StatusPreconditionFailed)
		w.ask("DELETE", "/v1/knowledge/a", nil, `If-Match: "4"`).want(http.StatusNoContent)
		w.ask("PATCH", "/v1/knowledge/b", object{"content": "x"}, `If-Match: W/"1"`).want(http.StatusNotFound)
		w.ask("PATCH", "/v1/knowledge/a", object{"tags": object{"a": "b"}}, `If-Match: "5"`).want(http.StatusGone)
	})
}

// TestARepeatedChangeIsRecognisedByWhateverRevisionsItExpects repeats it when the item is at none of them any more.
func TestARepeatedChangeIsRecognisedByWhateverRevisionsItExpects(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "one")
		const several = header(`If-Match: "1", "7"`)
		for i, change := range []func(...header) *answer{
			func(h ...header) *answer {
				return w.ask("PATCH", "/v1/knowledge/a", object{"content": "two"}, append(h, several)...)
			},
			func(h ...header) *answer {
				return w.ask("DELETE", "/v1/knowledge/a", nil, append(h, `If-Match: "2", "7"`)...)
			},
			func(h ...header) *answer {
				return w.ask("POST", "/v1/knowledge/a/restore", nil, append(h, `If-Match: "3", "7"`)...)
			},
		} {
			key := header(fmt.Sprint("Idempotency-Key: ", i))
			first := change(key)
			if again := change(key); first.status/100 != 2 || again.status != first.status || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("change %d: first %d %s, then %d %s", i, first.status, first.body, again.status, again.body)
			}
		}
	})
}

func TestIfMatchHoldsRememberingOverAnItemToTheRevisionThatWasRead(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
		w.remember("a", "one")
		over := func(body any, h ...header) *answer { return w.ask("POST", "/v1/knowledge?update=true", body, h...) }
		over(item("a", "two"), `If-Match: "1"`).want(http.StatusOK)
		over(item("a", "three"), `If-Match: "1"`).want(http.StatusPreconditionFailed)
		over(item("a", "three"), `If-Match: 2`).want(http.StatusBadRequest)
		over(item("b", "new"), `If-Match: "1"`).want(http.StatusPreconditionFailed)
		over([]object{item("a", "three")}, `If-Match: "2"`).want(http.StatusUnprocessableEntity)
	})
}

func TestNoCopyOutlivesAVote(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "one")
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "harmful"}).want(http.StatusOK)
		got := w.ask("GET", "/v1/knowledge/a", nil, `If-None-Match: "1"`).want(http.StatusOK)
		if got.header.Get("ETag") != `"1"` || got.header.Get("Cache-Control") != "no-store" || got.json()["eval"].(object)["harmful"] != 1.0 {
			t.Errorf("%v %s", got.header, got.body)
		}
	})
}

func TestMergedTagsOfManyWritersAreAllKept(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		var writers sync.WaitGroup
		want := object{}
		for i := range 20 {
			key := fmt.Sprint("k", i)
			want[key] = "v"
			writers.Go(func() {
				a := w.ask("PATCH", "/v1/knowledge/a", object{"tags": object{key: "v"}})
				same(t, a.status, http.StatusOK, key) // who asks for no revision is told of none
			})
		}
		writers.Wait()
		got := w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK).json()["tags"]
		same[any](t, got, want)
	})
}

func TestAPatchSaysWhy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		revised := w.ask("PATCH", "/v1/knowledge/a", object{"content": "y", "scopes": []string{"public"}, "reason": "the RFC says so"}).want(http.StatusOK)
		like(t, revised.json(), object{"reason": nil}, "the item has the reason")
		history := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()
		for _, step := range history[1:] {
			like(t, step, object{"reason": "the RFC says so"})
		}
		same(t, len(history), 3)
		w.ask("PATCH", "/v1/knowledge/a", object{"reason": 7}).want(http.StatusUnprocessableEntity)
		w.ask("DELETE", "/v1/knowledge/a?erase=true", nil).want(http.StatusNoContent)
		like(t, string(w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).body),
			lacking("RFC"), "the reason outlived the item")
	})
}

func TestRememberingThatRevisesSaysWhy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		why := func(content string) object {
			return object{"id": "a", "type": "strategy", "content": content, "scopes": []string{"public"}, "reason": "the RFC says so"}
		}
		like(t, string(w.ask("POST", "/v1/knowledge?update=true", why("x")).want(http.StatusCreated).body),
			lacking("RFC"), "the item has the reason")
		w.ask("POST", "/v1/knowledge?update=true", []object{why("y"), why("y")}).want(http.StatusOK)
		history := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()
		like(t, history, []any{object{"reason": nil}, object{"reason": "the RFC says so"}})
		long := why("z")
		long["reason"] = strings.Repeat("x", 2001)
		w.ask("POST", "/v1/knowledge?update=true", long).want(http.StatusUnprocessableEntity)
	})
}
