package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if diff := cmp.Diff(o[field], want); diff != "" {
				t.Errorf("%s: %s", field, diff)
			}
		}
		if got.header.Get("Annals-Outcome") != "revised" || got.header.Get("ETag") != `"5"` {
			t.Errorf("headers are %v", got.header)
		}
		same := w.ask("PATCH", "/v1/knowledge/a", object{"content": "x", "meta": object{"deep": object{"m": 3}}}).want(http.StatusOK)
		if same.header.Get("Annals-Outcome") != "unchanged" || same.header.Get("Annals-Position") != got.header.Get("Annals-Position") {
			t.Errorf("headers are %v", same.header)
		}
		labels := w.ask("PATCH", "/v1/knowledge/a", object{"tags": []string{"only"}}).want(http.StatusOK).json()
		if diff := cmp.Diff(labels["tags"], any(object{"labels": "only"})); diff != "" {
			t.Error(diff)
		}
		cleared := w.ask("PATCH", "/v1/knowledge/a", object{"tags": nil, "meta": nil}).want(http.StatusOK).json()
		if cleared["tags"] != nil || cleared["meta"] != nil {
			t.Errorf("%v", cleared)
		}
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
		if diff := cmp.Diff(got.errors(), want); diff != "" {
			t.Error(diff)
		}
		w.ask("PATCH", "/v1/knowledge/a", object{"visibility": "public"}).want(http.StatusUnprocessableEntity)
		w.ask("PATCH", "/v1/knowledge/a", "[]").want(http.StatusUnprocessableEntity)
		w.ask("PATCH", "/v1/knowledge/a", "").want(http.StatusBadRequest)
		if got := w.ask("GET", "/v1/knowledge/a", nil).json()["revision"]; got != 1.0 {
			t.Errorf("revision is %v", got)
		}
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
				answer, err := w.client.Do(w.request("PATCH", "/v1/knowledge/a", object{"tags": object{key: "v"}}))
				if err != nil {
					t.Error(err)
					return
				}
				answer.Body.Close()
				if answer.StatusCode != http.StatusOK { // who asks for no revision is told of none
					t.Errorf("%s: %d", key, answer.StatusCode)
				}
			})
		}
		writers.Wait()
		got := w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK).json()["tags"]
		if diff := cmp.Diff(got, any(want)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAPatchSaysWhy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		revised := w.ask("PATCH", "/v1/knowledge/a", object{"content": "y", "scopes": []string{"public"}, "reason": "the RFC says so"}).want(http.StatusOK)
		if revised.json()["reason"] != nil {
			t.Errorf("the item has the reason: %s", revised.body)
		}
		history := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()
		for _, step := range history[1:] {
			if step["reason"] != "the RFC says so" {
				t.Errorf("%s because of %q", step["name"], step["reason"])
			}
		}
		if len(history) != 3 {
			t.Errorf("got %d steps, want 3", len(history))
		}
		w.ask("PATCH", "/v1/knowledge/a", object{"reason": 7}).want(http.StatusUnprocessableEntity)
		w.ask("DELETE", "/v1/knowledge/a?erase=true", nil).want(http.StatusNoContent)
		if erased := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK); strings.Contains(string(erased.body), "RFC") {
			t.Errorf("the reason outlived the item: %s", erased.body)
		}
	})
}

func TestRememberingThatRevisesSaysWhy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		why := func(content string) object {
			return object{"id": "a", "type": "strategy", "content": content, "scopes": []string{"public"}, "reason": "the RFC says so"}
		}
		if made := w.ask("POST", "/v1/knowledge?update=true", why("x")).want(http.StatusCreated); strings.Contains(string(made.body), "RFC") {
			t.Errorf("the item has the reason: %s", made.body)
		}
		w.ask("POST", "/v1/knowledge?update=true", []object{why("y"), why("y")}).want(http.StatusOK)
		history := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()
		if len(history) != 2 || history[0]["reason"] != nil || history[1]["reason"] != "the RFC says so" {
			t.Errorf("got %v", history)
		}
		long := why("z")
		long["reason"] = strings.Repeat("x", 2001)
		w.ask("POST", "/v1/knowledge?update=true", long).want(http.StatusUnprocessableEntity)
	})
}
