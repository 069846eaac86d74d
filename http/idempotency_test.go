package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestARepeatedRequestHappensOnceAndIsAnsweredAsTheFirstTime(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const key = Header("Idempotency-Key: k1")
		first := w.Ask("POST", "/v1/knowledge", `{"type": "tool", "content": "x", "tags": {"a": "1", "b": "2"}}`, key).Want(http.StatusCreated)
		again := w.Ask("POST", "/v1/knowledge", `{"tags":{"b":"2","a":"1"},"content":"x","type":"tool"}`, key).Want(http.StatusCreated)
		Same(t, string(first.Body), string(again.Body))
		for _, name := range []string{"Location", "ETag", "Annals-Position", "Annals-Outcome", "Annals-Events"} {
			Same(t, first.Header.Get(name), again.Header.Get(name), name)
		}
		Same(t, first.Header.Get("Idempotent-Replayed"), "")
		Same(t, again.Header.Get("Idempotent-Replayed"), "true")
		w.Ask("POST", "/v1/knowledge", Item("", "another"), key).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/knowledge?update=true", `{"type": "tool", "content": "x", "tags": {"a": "1", "b": "2"}}`, key).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/knowledge", Item("", "x"), key, "Annals-Actor: user:else").Want(http.StatusCreated)
	})
}

func TestEveryWriteCanBeRepeated(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		w.Remember("b", "y")
		for i, write := range []struct {
			method, path string
			body         any
		}{
			{"PATCH", "/v1/knowledge/a", Object{"content": "z"}},
			{"PATCH", "/v1/knowledge/a", Object{"tags": Object{"k": "v"}}},
			{"POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}},
			{"DELETE", "/v1/knowledge/a/feedback", nil},
			{"POST", "/v1/knowledge/a/stale", Object{"reason": "r"}},
			{"POST", "/v1/knowledge/a/confirm", nil},
			{"POST", "/v1/knowledge/a/supersede", Object{"by": "b"}},
			{"POST", "/v1/knowledge/a/restore", nil},
			{"DELETE", "/v1/knowledge/a", nil},
		} {
			key := Header(fmt.Sprintf("Idempotency-Key: key-%d", i))
			first := w.Ask(write.method, write.path, write.body, key)
			again := w.Ask(write.method, write.path, write.body, key)
			if first.Status != again.Status || first.Status/100 != 2 {
				t.Errorf("%s %s: first %d, then %d: %s", write.method, write.path, first.Status, again.Status, again.Body)
			}
			Same(t, again.Header.Get("Annals-Position"), first.Header.Get("Annals-Position"), write.method, write.path)
			Same(t, again.Header.Get("Idempotent-Replayed"), "true", write.method, write.path)
		}
	})
}

func TestLinesAreRepeatedOneByOne(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		headers := []Header{"Idempotency-Key: bulk", NDJSON}
		one := `{"type":"tool","content":"one"}`
		first := w.Ask("POST", "/v1/knowledge", one+"\n"+`{"type":"tool"`, headers...).Want(http.StatusOK).Lines()
		again := w.Ask("POST", "/v1/knowledge", one+"\n"+`{"type":"tool","content":"two"}`, headers...).Want(http.StatusOK).Lines()
		Like(t, first, []any{Object{"id": Some{}}, Object{"status": "error"}})
		Like(t, again, []any{Object{"id": first[0]["id"]}, Object{"status": "created"}})
		other := w.Ask("POST", "/v1/knowledge", `{"type":"tool","content":"other"}`, headers...).Want(http.StatusOK).Lines()
		Same[any](t, Pick(other[0], "error", "status"), 422.0, other)
	})
}

func TestAKeyMustBeFitToBeKept(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for _, key := range []string{"with space", strings.Repeat("k", 201), "schlüssel"} {
			got := w.Ask("POST", "/v1/knowledge", Object{"type": "tool"}, Header("Idempotency-Key: "+key)).Want(http.StatusUnprocessableEntity)
			Same(t, strings.Join(got.Errors(), "; "),
				"Idempotency-Key: must be at most 200 visible ASCII characters; content: must not be empty")
		}
		// The key of a variable that was not set: what is repeated would happen twice.
		refused := w.Ask("POST", "/v1/knowledge", Item("a", "x"), "Idempotency-Key:").Want(http.StatusBadRequest).JSON()
		Same[any](t, refused["detail"], "the header Idempotency-Key is empty")
		w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusNotFound)
	})
}

// TestWhatChangedNothingIsAnsweredAgainAsThat repeats it when it would change something, and when nothing can be changed.
func TestWhatChangedNothingIsAnsweredAgainAsThat(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Object{"id": "a", "type": "tool", "content": "x", "tags": []string{"draft"}}).Want(http.StatusCreated)
		label := func() *Answer {
			return w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": Object{"labels": Object{"draft": true}}}, "Idempotency-Key: k").Want(http.StatusOK)
		}
		first := label()
		if outcome := first.Header.Get("Annals-Outcome"); outcome != "unchanged" {
			t.Fatalf("it is %s", outcome)
		}
		for _, other := range []func(){
			func() {
				w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": Object{"labels": Object{"draft": nil}}}).Want(http.StatusOK)
			},
			func() { w.Ask("DELETE", "/v1/knowledge/a", nil).Want(http.StatusNoContent) },
		} {
			other()
			if again := label(); string(again.Body) != string(first.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("again: %s, first %s", again.Body, first.Body)
			}
		}
		w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": []string{"other"}}, "Idempotency-Key: another").Want(http.StatusGone)
	})
}

// TestAKeyThatErasedIsNoKeyForAnythingElse uses it again for other things, when what the first request said is destroyed.
func TestAKeyThatErasedIsNoKeyForAnythingElse(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		admin, key := people["admin"].Headers[0], Header("Idempotency-Key: k")
		for _, id := range []string{"a", "b"} {
			w.Ask("POST", "/v1/knowledge", Item(id, "x"), admin).Want(http.StatusCreated)
		}
		const erase = "/v1/knowledge/a?erase=true&reason_code=gdpr-17"
		w.Ask("DELETE", erase, nil, admin, key).Want(http.StatusNoContent)
		Same(t, w.Ask("DELETE", erase, nil, admin, key).Want(http.StatusNoContent).Header.Get("Idempotent-Replayed"),
			"true", "the same request was not recognised")
		for path, body := range map[string]Object{
			"/v1/erasures":             {"of": "b"},
			"/v1/knowledge":            Item("c", "x"),
			"/v1/knowledge/b/feedback": {"verdict": "helpful"},
		} {
			Like(t, w.Ask("POST", path, body, admin, key).Want(http.StatusUnprocessableEntity).JSON(),
				Object{"type": "urn:annals:problem:key-reused"}, path)
		}
	})
}
