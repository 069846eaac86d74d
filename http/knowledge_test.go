package http_test

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestTheSeedsExampleIsRememberedAsItIs(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		created := w.Ask("POST", "/v1/knowledge", `{
			"id": "profile_001", "type": "user_profile", "task": "用户编码风格偏好",
			"tags": {"category": "preference", "domain": "coding_style"},
			"scopes": ["user:123", "project:456"], "owner": "user:123", "visibility": "shared",
			"content": "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
			"source": {"agent_id": "general_assistant", "trace_id": "trace-xxx", "timestamp": "2026-03-03"},
			"eval": {"helpful": 5, "harmful": 0, "confidence": 0.9}}`).Want(http.StatusCreated)
		for name, want := range map[string]string{
			"Location": "/v1/knowledge/profile_001", "Etag": `"1"`, "Annals-Position": "1",
			"Annals-Outcome": "created", "Content-Type": "application/json", "Idempotent-Replayed": "",
		} {
			Same(t, created.Header.Get(name), want, name)
		}
		got := w.Ask("GET", "/v1/knowledge/profile_001", nil).Want(http.StatusOK)
		Same(t, got.Header.Get("ETag"), `"1"`)
		o := got.JSON()
		for _, moment := range []string{"created_at", "updated_at"} {
			Like(t, o[moment], Ending("Z"), moment)
			delete(o, moment)
		}
		want := Object{
			"id": "profile_001", "type": "user_profile", "task": "用户编码风格偏好",
			"tags":   Object{"category": "preference", "domain": "coding_style"},
			"scopes": []any{"user:123", "project:456"}, "owner": "user:123", "visibility": "shared",
			"content": "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
			"source":  Object{"agent_id": "general_assistant", "trace_id": "trace-xxx", "timestamp": "2026-03-03"},
			"eval":    Object{"helpful": 5.0, "harmful": 0.0, "confidence": 0.9}, "stale": Object{"reporters": 0.0},
			"context_type": "memory", "polarity": "positive", "media": "text", "status": "active", "trust": "person",
			"uri":      "viking://user/123/memories/preferences/profile_001.md",
			"revision": 1.0, "version": 1.0, "position": 1.0,
		}
		Same(t, o, want)
	})
}

func TestAnIDIsMadeForWhoGivesNone(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		one := w.Ask("POST", "/v1/knowledge", Object{"type": "tool", "content": "a"}).Want(http.StatusCreated)
		two := w.Ask("POST", "/v1/knowledge", Object{"type": "tool", "content": "b"}).Want(http.StatusCreated)
		first, second := one.JSON()["id"].(string), two.JSON()["id"].(string)
		if len(first) != 36 || first >= second {
			t.Errorf("%s, then %s", first, second)
		}
		w.Ask("GET", one.Header.Get("Location"), nil).Want(http.StatusOK)
	})
}

func TestATakenIDIsAConflictUnlessUpdateIsAskedFor(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "one")
		w.Ask("POST", "/v1/knowledge", Item("a", "two")).Want(http.StatusConflict)
		w.Ask("POST", "/v1/knowledge", Item("a", "one")).Want(http.StatusConflict)
		revised := w.Ask("POST", "/v1/knowledge?update=true", Item("a", "two")).Want(http.StatusOK)
		Same(t, revised.Header.Get("Annals-Outcome")+revised.Header.Get("ETag"), `revised"2"`)
		unchanged := w.Ask("POST", "/v1/knowledge?update=true", Item("a", "two")).Want(http.StatusOK)
		Same(t, unchanged.Header.Get("Annals-Outcome")+unchanged.Header.Get("ETag"), `unchanged"2"`)
		w.Ask("POST", "/v1/knowledge?update=maybe", Item("a", "two")).Want(http.StatusUnprocessableEntity)
	})
}

func TestWhatIsNoIDIsNotFoundAndLeadsToNothingElse(t *testing.T) {
	Each(t, func(_ *testing.T, w *World) {
		for _, id := range []string{"%00", "%ff", "a%2Fb", "%20", "%27%3B--", strings.Repeat("a", 129)} {
			w.Ask("GET", "/v1/knowledge/"+id, nil).Want(http.StatusNotFound)
			w.Ask("DELETE", "/v1/knowledge/"+id, nil).Want(http.StatusNotFound)
			w.Ask("GET", "/v1/knowledge/"+id+"/history", nil).Want(http.StatusNotFound)
		}
		w.Remember("a~b", "x")
		w.Ask("GET", "/v1/knowledge/a%7Eb", nil).Want(http.StatusOK)
		w.Remember("a", "x")
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}).Want(http.StatusOK)
		for _, path := range []string{"a%2Fhistory", "a%2flineage", "b%2F..%2Fa"} {
			w.Ask("GET", "/v1/knowledge/"+path, nil).Want(http.StatusNotFound)
		}
		w.Ask("DELETE", "/v1/knowledge/a%2Ffeedback", nil).Want(http.StatusNotFound)
	})
}

func TestAForgottenItemIsGoneUntilItIsRestored(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		gone := w.Ask("DELETE", "/v1/knowledge/a?reason=wrong", nil).Want(http.StatusNoContent)
		Same(t, gone.Header.Get("ETag"), `"2"`)
		Same(t, gone.Header.Get("Annals-Position"), "2")
		w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusGone)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"task": "y"}).Want(http.StatusGone)
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}).Want(http.StatusGone)
		w.Ask("GET", "/v1/knowledge/a", nil, "Annals-On-Behalf-Of: user:bob").Want(http.StatusNotFound)
		last := w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Items()[1]
		Like(t, last, Object{"reason": "wrong", "name": "knowledge.deleted"}, "the history says")
		w.Ask("POST", "/v1/knowledge", Item("a", "x")).Want(http.StatusConflict)
		w.Ask("POST", "/v1/knowledge/a/restore", Object{"reason": "right after all"}).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/a?reason=a", Object{"reason": "b"}).Want(http.StatusUnprocessableEntity)
		w.Ask("DELETE", "/v1/knowledge/a", Object{"reason": "in the body"}).Want(http.StatusNoContent)
	})
}

func TestASupersededItemNamesItsSuccessor(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("old", "x")
		w.Remember("new", "y")
		got := w.Ask("POST", "/v1/knowledge/old/supersede", Object{"by": "new", "reason": "better"}).Want(http.StatusOK).JSON()
		Like(t, got, Object{"status": "superseded", "superseded_by": "new"})
		Like(t, w.Ask("GET", "/v1/knowledge", nil).Want(http.StatusOK).Items(), []any{Object{"id": "new"}}, "the list has")
		w.Ask("POST", "/v1/knowledge/new/supersede", Object{"by": "old"}).Want(http.StatusConflict)
		for _, by := range []any{"new", "nobody", "", nil, 7, "\x00"} {
			w.Ask("POST", "/v1/knowledge/new/supersede", Object{"by": by}).Want(http.StatusUnprocessableEntity)
		}
	})
}

func TestWhatIsListedCanBeRememberedElsewhere(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "a", "category": "cases", "content": "x", "tags": []string{"l1", "l2"}, "meta": Object{"k": []any{1.5, "<"}},
			"scopes": []string{"public"}, "source": Object{"urls": []string{"https://example.org"}},
			"eval": Object{"helpful_history": []Object{{"query": "q", "at": "2026-01-01T00:00:00Z"}}}, "occurred_at": "2026-01-01T00:00:00+08:00",
		}).Want(http.StatusCreated)
		exported := w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK)
		imported := w.Ask("POST", "/v1/knowledge", strings.ReplaceAll(string(exported.Body), `"a"`, `"b"`)).Want(http.StatusConflict)
		Same(t, imported.JSON()["detail"], "the uri belongs to another item")
		moved := strings.NewReplacer(`"a"`, `"b"`, "/a.md", "/b.md").Replace(string(exported.Body))
		w.Ask("POST", "/v1/knowledge", moved).Want(http.StatusCreated)
		again := w.Ask("GET", "/v1/knowledge/b", nil).Want(http.StatusOK)
		a, b := exported.JSON(), again.JSON()
		for _, differs := range []string{"id", "uri", "position", "created_at", "updated_at"} {
			delete(a, differs)
			delete(b, differs)
		}
		Same(t, a, b)
	})
}
