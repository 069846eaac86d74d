package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestAPatchChangesWhatItNames(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "a", "type": "strategy", "content": "x", "task": "t", "abstract": "short", "category": "skills",
			"tags": Object{"a": "1", "b": "2"}, "meta": Object{"k": 1, "deep": Object{"l": 2, "m": 3}},
		}).Want(http.StatusCreated)
		got := w.Ask("PATCH", "/v1/knowledge/a", Object{
			"task": nil, "abstract": nil, "category": nil, "polarity": "negative", "type": "tool",
			"tags": Object{"a": nil, "c": []string{"3", "4"}}, "meta": Object{"k": nil, "deep": Object{"l": nil}},
			"scopes": []string{"project:p", "user:default"}, "visibility": "shared", "owner": "project:p",
			"uri": "viking://agent/memories/tools/elsewhere.md",
		}, "Content-Type: application/merge-patch+json").Want(http.StatusOK)
		o := got.JSON()
		for field, want := range (Object{
			"task": nil, "abstract": nil, "category": nil, "polarity": "negative", "type": "tool", "content": "x",
			"tags": Object{"b": "2", "c": []any{"3", "4"}}, "meta": Object{"deep": Object{"m": 3.0}},
			"scopes": []any{"project:p", "user:default"}, "visibility": "shared", "owner": "project:p",
			"uri": "viking://agent/memories/tools/elsewhere.md",
		}) {
			Same(t, o[field], want, field)
		}
		Same(t, got.Header.Get("Annals-Outcome"), "revised")
		Same(t, got.Header.Get("ETag"), `"5"`)
		already := Object{"content": "x", "meta": Object{"deep": Object{"m": 3}}}
		unchanged := w.Ask("PATCH", "/v1/knowledge/a", already).Want(http.StatusOK)
		Same(t, unchanged.Header.Get("Annals-Outcome"), "unchanged")
		Same(t, unchanged.Header.Get("Annals-Position"), got.Header.Get("Annals-Position"))
		labels := w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": []string{"only"}}).Want(http.StatusOK).JSON()
		Same[any](t, labels["tags"], Object{"labels": "only"})
		cleared := w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": nil, "meta": nil}).Want(http.StatusOK).JSON()
		Like(t, cleared, Object{"tags": nil, "meta": nil})
	})
}

func TestABadPatchNamesEveryFieldAndChangesNothing(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		got := w.Ask("PATCH", "/v1/knowledge/a", `{"content": null, "type": null, "scopes": null, "owner": null, "uri": null,
			"status": "active", "tags": {"a": 1}, "visibility": "secret", "polarity": 0, "context_type": "skill"}`).Want(http.StatusUnprocessableEntity)
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
		Same(t, got.Errors(), want)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"visibility": "public"}).Want(http.StatusUnprocessableEntity)
		w.Ask("PATCH", "/v1/knowledge/a", "[]").Want(http.StatusUnprocessableEntity)
		w.Ask("PATCH", "/v1/knowledge/a", "").Want(http.StatusBadRequest)
		Same(t, w.Ask("GET", "/v1/knowledge/a", nil).JSON()["revision"], 1.0)
	})
}

func TestIfMatchHoldsAChangeToTheRevisionThatWasRead(t *testing.T) {
	Each(t, func(_ *testing.T, w *World) {
		w.Remember("a", "one")
		change := func(content string, match Header) *Answer {
			return w.Ask("PATCH", "/v1/knowledge/a", Object{"content": content}, match)
		}
		change("two", `If-Match: "1"`).Want(http.StatusOK)
		change("three", `If-Match: "1"`).Want(http.StatusPreconditionFailed)
		change("three", `If-Match: W/"2"`).Want(http.StatusPreconditionFailed)
		change("three", `If-Match: "x"`).Want(http.StatusPreconditionFailed)
		change("three", `If-Match: 2`).Want(http.StatusBadRequest)
		change("three", `If-Match: "1", W/"2"`).Want(http.StatusPreconditionFailed)
		change("three", `If-Match: "1", "2"`).Want(http.StatusOK)
		change("four", `If-Match: *`).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/a", nil, `If-Match: "3"`).Want(http.StatusPreconditionFailed)
		w.Ask("DELETE", "/v1/knowledge/a", nil, `If-Match: "4"`).Want(http.StatusNoContent)
		w.Ask("PATCH", "/v1/knowledge/b", Object{"content": "x"}, `If-Match: W/"1"`).Want(http.StatusNotFound)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": Object{"a": "b"}}, `If-Match: "5"`).Want(http.StatusGone)
	})
}

// TestARepeatedChangeIsRecognisedByWhateverRevisionsItExpects repeats it when the item is at none of them any more.
func TestARepeatedChangeIsRecognisedByWhateverRevisionsItExpects(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "one")
		const several = Header(`If-Match: "1", "7"`)
		for i, change := range []func(...Header) *Answer{
			func(h ...Header) *Answer {
				return w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "two"}, append(h, several)...)
			},
			func(h ...Header) *Answer {
				return w.Ask("DELETE", "/v1/knowledge/a", nil, append(h, `If-Match: "2", "7"`)...)
			},
			func(h ...Header) *Answer {
				return w.Ask("POST", "/v1/knowledge/a/restore", nil, append(h, `If-Match: "3", "7"`)...)
			},
		} {
			key := Header(fmt.Sprint("Idempotency-Key: ", i))
			first := change(key)
			if again := change(key); first.Status/100 != 2 || again.Status != first.Status || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("change %d: first %d %s, then %d %s", i, first.Status, first.Body, again.Status, again.Body)
			}
		}
	})
}

func TestIfMatchHoldsRememberingOverAnItemToTheRevisionThatWasRead(t *testing.T) {
	Each(t, func(_ *testing.T, w *World) {
		w.Remember("a", "one")
		over := func(body any, h ...Header) *Answer { return w.Ask("POST", "/v1/knowledge?update=true", body, h...) }
		over(Item("a", "two"), `If-Match: "1"`).Want(http.StatusOK)
		over(Item("a", "three"), `If-Match: "1"`).Want(http.StatusPreconditionFailed)
		over(Item("a", "three"), `If-Match: 2`).Want(http.StatusBadRequest)
		over(Item("b", "new"), `If-Match: "1"`).Want(http.StatusPreconditionFailed)
		over([]Object{Item("a", "three")}, `If-Match: "2"`).Want(http.StatusUnprocessableEntity)
	})
}

func TestNoCopyOutlivesAVote(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "one")
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "harmful"}).Want(http.StatusOK)
		got := w.Ask("GET", "/v1/knowledge/a", nil, `If-None-Match: "1"`).Want(http.StatusOK)
		if got.Header.Get("ETag") != `"1"` || got.Header.Get("Cache-Control") != "no-store" || got.JSON()["eval"].(Object)["harmful"] != 1.0 {
			t.Errorf("%v %s", got.Header, got.Body)
		}
	})
}

func TestMergedTagsOfManyWritersAreAllKept(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		var writers sync.WaitGroup
		want := Object{}
		for i := range 20 {
			key := fmt.Sprint("k", i)
			want[key] = "v"
			writers.Go(func() {
				a := w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": Object{key: "v"}})
				Same(t, a.Status, http.StatusOK, key) // who asks for no revision is told of none
			})
		}
		writers.Wait()
		got := w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK).JSON()["tags"]
		Same[any](t, got, want)
	})
}

func TestAPatchSaysWhy(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		revised := w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "y", "scopes": []string{"public"}, "reason": "the RFC says so"}).Want(http.StatusOK)
		Like(t, revised.JSON(), Object{"reason": nil}, "the item has the reason")
		history := w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Items()
		for _, step := range history[1:] {
			Like(t, step, Object{"reason": "the RFC says so"})
		}
		Same(t, len(history), 3)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"reason": 7}).Want(http.StatusUnprocessableEntity)
		w.Ask("DELETE", "/v1/knowledge/a?erase=true", nil).Want(http.StatusNoContent)
		Like(t, string(w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Body),
			Lacking("RFC"), "the reason outlived the item")
	})
}

func TestRememberingThatRevisesSaysWhy(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		why := func(content string) Object {
			return Object{"id": "a", "type": "strategy", "content": content, "scopes": []string{"public"}, "reason": "the RFC says so"}
		}
		Like(t, string(w.Ask("POST", "/v1/knowledge?update=true", why("x")).Want(http.StatusCreated).Body),
			Lacking("RFC"), "the item has the reason")
		w.Ask("POST", "/v1/knowledge?update=true", []Object{why("y"), why("y")}).Want(http.StatusOK)
		history := w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Items()
		Like(t, history, []any{Object{"reason": nil}, Object{"reason": "the RFC says so"}})
		long := why("z")
		long["reason"] = strings.Repeat("x", 2001)
		w.Ask("POST", "/v1/knowledge?update=true", long).Want(http.StatusUnprocessableEntity)
	})
}

// Whoever may change an item may keep the audience that somebody else gave it, whichever way it is changed.
func TestRememberingOverAnItemPublishesOnlyWhatIsNew(t *testing.T) {
	EachWith(t, Keyed, func(_ *testing.T, w *World) {
		olga := w.Admin()
		admin := Bearer(olga)
		mia := w.GivenTo("user:mia", olga, "team:pay")
		auditor := Bearer(w.Given(olga, Object{"subject": "user:otto", "role": "auditor"}))
		says := func(content string, scopes ...string) Object {
			return Object{"id": "a", "type": "strategy", "content": content, "owner": "team:pay", "scopes": scopes}
		}
		over := func(body any, by Header) *Answer { return w.Ask("POST", "/v1/knowledge?update=true", body, by) }
		w.Ask("POST", "/v1/knowledge", says("one", "team:pay", "public"), admin).Want(http.StatusCreated)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "two", "scopes": []string{"team:pay", "public"}}, mia).Want(http.StatusOK)
		over(says("three", "team:pay", "public"), mia).Want(http.StatusOK)
		over(says("four", "team:pay", "public", "org:acme"), mia).Want(http.StatusForbidden)
		over(says("four", "team:pay", "public"), auditor).Want(http.StatusForbidden)
		lines := over([]Object{says("four", "public", "team:pay"), says("five", "user:olga")}, mia).Want(http.StatusOK).Lines()
		Like(w.T, lines, []any{Object{"status": "revised"}, Object{"status": "error"}})
		over(says("five", "team:pay"), mia).Want(http.StatusOK)
		over(says("six", "team:pay", "public"), mia).Want(http.StatusForbidden)
	})
}
