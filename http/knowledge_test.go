package http_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestTheSeedsExampleIsRememberedAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		created := w.ask("POST", "/v1/knowledge", `{
			"id": "profile_001", "type": "user_profile", "task": "用户编码风格偏好",
			"tags": {"category": "preference", "domain": "coding_style"},
			"scopes": ["user:123", "project:456"], "owner": "user:123", "visibility": "shared",
			"content": "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
			"source": {"agent_id": "general_assistant", "trace_id": "trace-xxx", "timestamp": "2026-03-03"},
			"eval": {"helpful": 5, "harmful": 0, "confidence": 0.9}}`).want(http.StatusCreated)
		for name, want := range map[string]string{
			"Location": "/v1/knowledge/profile_001", "Etag": `"1"`, "Annals-Position": "1",
			"Annals-Outcome": "created", "Content-Type": "application/json", "Idempotent-Replayed": "",
		} {
			same(t, created.header.Get(name), want, name)
		}
		got := w.ask("GET", "/v1/knowledge/profile_001", nil).want(http.StatusOK)
		same(t, got.header.Get("ETag"), `"1"`)
		o := got.json()
		for _, moment := range []string{"created_at", "updated_at"} {
			like(t, o[moment], ending("Z"), moment)
			delete(o, moment)
		}
		want := object{
			"id": "profile_001", "type": "user_profile", "task": "用户编码风格偏好",
			"tags":   object{"category": "preference", "domain": "coding_style"},
			"scopes": []any{"user:123", "project:456"}, "owner": "user:123", "visibility": "shared",
			"content": "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
			"source":  object{"agent_id": "general_assistant", "trace_id": "trace-xxx", "timestamp": "2026-03-03"},
			"eval":    object{"helpful": 5.0, "harmful": 0.0, "confidence": 0.9}, "stale": object{"reporters": 0.0},
			"context_type": "memory", "polarity": "positive", "media": "text", "status": "active",
			"uri":      "viking://user/123/memories/preferences/profile_001.md",
			"revision": 1.0, "version": 1.0, "position": 1.0,
		}
		same(t, o, want)
	})
}

func TestAnIDIsMadeForWhoGivesNone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one := w.ask("POST", "/v1/knowledge", object{"type": "tool", "content": "a"}).want(http.StatusCreated)
		two := w.ask("POST", "/v1/knowledge", object{"type": "tool", "content": "b"}).want(http.StatusCreated)
		first, second := one.json()["id"].(string), two.json()["id"].(string)
		if len(first) != 36 || first >= second {
			t.Errorf("%s, then %s", first, second)
		}
		w.ask("GET", one.header.Get("Location"), nil).want(http.StatusOK)
	})
}

func TestATakenIDIsAConflictUnlessUpdateIsAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "one")
		w.ask("POST", "/v1/knowledge", item("a", "two")).want(http.StatusConflict)
		w.ask("POST", "/v1/knowledge", item("a", "one")).want(http.StatusConflict)
		revised := w.ask("POST", "/v1/knowledge?update=true", item("a", "two")).want(http.StatusOK)
		same(t, revised.header.Get("Annals-Outcome")+revised.header.Get("ETag"), `revised"2"`)
		unchanged := w.ask("POST", "/v1/knowledge?update=true", item("a", "two")).want(http.StatusOK)
		same(t, unchanged.header.Get("Annals-Outcome")+unchanged.header.Get("ETag"), `unchanged"2"`)
		w.ask("POST", "/v1/knowledge?update=maybe", item("a", "two")).want(http.StatusUnprocessableEntity)
	})
}

func TestWhatIsNotThereAndWhatMayNotBeSeenLookTheSame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", item("secret", "x"), "Annals-Actor: user:alice").want(http.StatusCreated)
		hide := func(a *answer, id string) string {
			return strings.ReplaceAll(string(a.want(http.StatusNotFound).body), id, "ID")
		}
		as := []header{"Annals-Actor: user:default", "Annals-On-Behalf-Of: user:bob", "X-Request-Id: r"}
		for _, route := range []struct{ method, path, body string }{
			{"GET", "", ""},
			{"GET", "/history", ""},
			{"PATCH", "", `{"task": "x"}`},
			{"PATCH", "", `{"tags": {"a": "b"}}`},
			{"DELETE", "", ""},
			{"POST", "/feedback", `{"verdict": "helpful"}`},
			{"DELETE", "/feedback", ""},
			{"POST", "/stale", ""},
			{"POST", "/confirm", ""},
			{"POST", "/supersede", `{"by": "other"}`},
			{"POST", "/restore", ""},
		} {
			var body any
			if route.body != "" {
				body = route.body
			}
			there := hide(w.ask(route.method, "/v1/knowledge/secret"+route.path, body, as...), "secret")
			absent := hide(w.ask(route.method, "/v1/knowledge/absent"+route.path, body, as...), "absent")
			same(t, there, absent, route.method, route.path)
		}
		w.ask("GET", "/v1/knowledge/secret", nil, "Annals-Actor: user:alice").want(http.StatusOK)
	})
}

func TestWhatIsNoIDIsNotFoundAndLeadsToNothingElse(t *testing.T) {
	each(t, func(_ *testing.T, w *world) {
		for _, id := range []string{"%00", "%ff", "a%2Fb", "%20", "%27%3B--", strings.Repeat("a", 129)} {
			w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusNotFound)
			w.ask("DELETE", "/v1/knowledge/"+id, nil).want(http.StatusNotFound)
			w.ask("GET", "/v1/knowledge/"+id+"/history", nil).want(http.StatusNotFound)
		}
		w.remember("a~b", "x")
		w.ask("GET", "/v1/knowledge/a%7Eb", nil).want(http.StatusOK)
		w.remember("a", "x")
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}).want(http.StatusOK)
		for _, path := range []string{"a%2Fhistory", "a%2flineage", "b%2F..%2Fa"} {
			w.ask("GET", "/v1/knowledge/"+path, nil).want(http.StatusNotFound)
		}
		w.ask("DELETE", "/v1/knowledge/a%2Ffeedback", nil).want(http.StatusNotFound)
	})
}

func TestAForgottenItemIsGoneUntilItIsRestored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		gone := w.ask("DELETE", "/v1/knowledge/a?reason=wrong", nil).want(http.StatusNoContent)
		same(t, gone.header.Get("ETag"), `"2"`)
		same(t, gone.header.Get("Annals-Position"), "2")
		w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusGone)
		w.ask("PATCH", "/v1/knowledge/a", object{"task": "y"}).want(http.StatusGone)
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}).want(http.StatusGone)
		w.ask("GET", "/v1/knowledge/a", nil, "Annals-On-Behalf-Of: user:bob").want(http.StatusNotFound)
		last := w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).items()[1]
		like(t, last, object{"reason": "wrong", "name": "knowledge.deleted"}, "the history says")
		w.ask("POST", "/v1/knowledge", item("a", "x")).want(http.StatusConflict)
		w.ask("POST", "/v1/knowledge/a/restore", object{"reason": "right after all"}).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/a?reason=a", object{"reason": "b"}).want(http.StatusUnprocessableEntity)
		w.ask("DELETE", "/v1/knowledge/a", object{"reason": "in the body"}).want(http.StatusNoContent)
	})
}

func TestASupersededItemNamesItsSuccessor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("old", "x")
		w.remember("new", "y")
		got := w.ask("POST", "/v1/knowledge/old/supersede", object{"by": "new", "reason": "better"}).want(http.StatusOK).json()
		like(t, got, object{"status": "superseded", "superseded_by": "new"})
		like(t, w.ask("GET", "/v1/knowledge", nil).want(http.StatusOK).items(), []any{object{"id": "new"}}, "the list has")
		w.ask("POST", "/v1/knowledge/new/supersede", object{"by": "old"}).want(http.StatusConflict)
		for _, by := range []any{"new", "nobody", "", nil, 7, "\x00"} {
			w.ask("POST", "/v1/knowledge/new/supersede", object{"by": by}).want(http.StatusUnprocessableEntity)
		}
	})
}

func TestWhatIsListedCanBeRememberedElsewhere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", object{
			"id": "a", "category": "cases", "content": "x", "tags": []string{"l1", "l2"}, "meta": object{"k": []any{1.5, "<"}},
			"scopes": []string{"public"}, "source": object{"urls": []string{"https://example.org"}},
			"eval": object{"helpful_history": []object{{"query": "q", "at": "2026-01-01T00:00:00Z"}}}, "occurred_at": "2026-01-01T00:00:00+08:00",
		}).want(http.StatusCreated)
		exported := w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK)
		imported := w.ask("POST", "/v1/knowledge", strings.ReplaceAll(string(exported.body), `"a"`, `"b"`)).want(http.StatusConflict)
		same(t, imported.json()["detail"], "the uri belongs to another item")
		moved := strings.NewReplacer(`"a"`, `"b"`, "/a.md", "/b.md").Replace(string(exported.body))
		w.ask("POST", "/v1/knowledge", moved).want(http.StatusCreated)
		again := w.ask("GET", "/v1/knowledge/b", nil).want(http.StatusOK)
		a, b := exported.json(), again.json()
		for _, differs := range []string{"id", "uri", "position", "created_at", "updated_at"} {
			delete(a, differs)
			delete(b, differs)
		}
		same(t, a, b)
	})
}
