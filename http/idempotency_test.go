package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestARepeatedRequestHappensOnceAndIsAnsweredAsTheFirstTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const key = header("Idempotency-Key: k1")
		first := w.ask("POST", "/v1/knowledge", `{"type": "tool", "content": "x", "tags": {"a": "1", "b": "2"}}`, key).want(http.StatusCreated)
		again := w.ask("POST", "/v1/knowledge", `{"tags":{"b":"2","a":"1"},"content":"x","type":"tool"}`, key).want(http.StatusCreated)
		same(t, string(first.body), string(again.body))
		for _, name := range []string{"Location", "ETag", "Annals-Position", "Annals-Outcome", "Annals-Events"} {
			same(t, first.header.Get(name), again.header.Get(name), name)
		}
		same(t, first.header.Get("Idempotent-Replayed"), "")
		same(t, again.header.Get("Idempotent-Replayed"), "true")
		w.ask("POST", "/v1/knowledge", item("", "another"), key).want(http.StatusUnprocessableEntity)
		w.ask("POST", "/v1/knowledge?update=true", `{"type": "tool", "content": "x", "tags": {"a": "1", "b": "2"}}`, key).want(http.StatusUnprocessableEntity)
		w.ask("POST", "/v1/knowledge", item("", "x"), key, "Annals-Actor: user:else").want(http.StatusCreated)
	})
}

func TestEveryWriteCanBeRepeated(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		w.remember("b", "y")
		for i, write := range []struct {
			method, path string
			body         any
		}{
			{"PATCH", "/v1/knowledge/a", object{"content": "z"}},
			{"PATCH", "/v1/knowledge/a", object{"tags": object{"k": "v"}}},
			{"POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}},
			{"DELETE", "/v1/knowledge/a/feedback", nil},
			{"POST", "/v1/knowledge/a/stale", object{"reason": "r"}},
			{"POST", "/v1/knowledge/a/confirm", nil},
			{"POST", "/v1/knowledge/a/supersede", object{"by": "b"}},
			{"POST", "/v1/knowledge/a/restore", nil},
			{"DELETE", "/v1/knowledge/a", nil},
		} {
			key := header(fmt.Sprintf("Idempotency-Key: key-%d", i))
			first := w.ask(write.method, write.path, write.body, key)
			again := w.ask(write.method, write.path, write.body, key)
			if first.status != again.status || first.status/100 != 2 {
				t.Errorf("%s %s: first %d, then %d: %s", write.method, write.path, first.status, again.status, again.body)
			}
			same(t, again.header.Get("Annals-Position"), first.header.Get("Annals-Position"), write.method, write.path)
			same(t, again.header.Get("Idempotent-Replayed"), "true", write.method, write.path)
		}
	})
}

func TestLinesAreRepeatedOneByOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		headers := []header{"Idempotency-Key: bulk", "Content-Type: application/x-ndjson"}
		one := `{"type":"tool","content":"one"}`
		first := w.ask("POST", "/v1/knowledge", one+"\n"+`{"type":"tool"`, headers...).want(http.StatusOK).lines()
		again := w.ask("POST", "/v1/knowledge", one+"\n"+`{"type":"tool","content":"two"}`, headers...).want(http.StatusOK).lines()
		like(t, first, []any{object{"id": some{}}, object{"status": "error"}})
		like(t, again, []any{object{"id": first[0]["id"]}, object{"status": "created"}})
		other := w.ask("POST", "/v1/knowledge", `{"type":"tool","content":"other"}`, headers...).want(http.StatusOK).lines()
		same[any](t, pick(other[0], "error", "status"), 422.0, other)
	})
}

func TestAKeyMustBeFitToBeKept(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, key := range []string{"with space", strings.Repeat("k", 201), "schlüssel"} {
			got := w.ask("POST", "/v1/knowledge", object{"type": "tool"}, header("Idempotency-Key: "+key)).want(http.StatusUnprocessableEntity)
			same(t, strings.Join(got.errors(), "; "),
				"Idempotency-Key: must be at most 200 visible ASCII characters; content: must not be empty")
		}
		// The key of a variable that was not set: what is repeated would happen twice.
		refused := w.ask("POST", "/v1/knowledge", item("a", "x"), "Idempotency-Key:").want(http.StatusBadRequest).json()
		same[any](t, refused["detail"], "the header Idempotency-Key is empty")
		w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusNotFound)
	})
}

// TestWhatChangedNothingIsAnsweredAgainAsThat repeats it when it would change something, and when nothing can be changed.
func TestWhatChangedNothingIsAnsweredAgainAsThat(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", object{"id": "a", "type": "tool", "content": "x", "tags": []string{"draft"}}).want(http.StatusCreated)
		label := func() *answer {
			return w.ask("PATCH", "/v1/knowledge/a", object{"tags": object{"labels": object{"draft": true}}}, "Idempotency-Key: k").want(http.StatusOK)
		}
		first := label()
		if outcome := first.header.Get("Annals-Outcome"); outcome != "unchanged" {
			t.Fatalf("it is %s", outcome)
		}
		for _, other := range []func(){
			func() {
				w.ask("PATCH", "/v1/knowledge/a", object{"tags": object{"labels": object{"draft": nil}}}).want(http.StatusOK)
			},
			func() { w.ask("DELETE", "/v1/knowledge/a", nil).want(http.StatusNoContent) },
		} {
			other()
			if again := label(); string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("again: %s, first %s", again.body, first.body)
			}
		}
		w.ask("PATCH", "/v1/knowledge/a", object{"tags": []string{"other"}}, "Idempotency-Key: another").want(http.StatusGone)
	})
}

// TestAKeyThatErasedIsNoKeyForAnythingElse uses it again for other things, when what the first request said is destroyed.
func TestAKeyThatErasedIsNoKeyForAnythingElse(t *testing.T) {
	eachPeopled(t, func(t *testing.T, w *world, people map[string]caller) {
		admin, key := people["admin"].headers[0], header("Idempotency-Key: k")
		for _, id := range []string{"a", "b"} {
			w.ask("POST", "/v1/knowledge", item(id, "x"), admin).want(http.StatusCreated)
		}
		const erase = "/v1/knowledge/a?erase=true&reason_code=gdpr-17"
		w.ask("DELETE", erase, nil, admin, key).want(http.StatusNoContent)
		same(t, w.ask("DELETE", erase, nil, admin, key).want(http.StatusNoContent).header.Get("Idempotent-Replayed"),
			"true", "the same request was not recognised")
		for path, body := range map[string]object{
			"/v1/erasures":             {"of": "b"},
			"/v1/knowledge":            item("c", "x"),
			"/v1/knowledge/b/feedback": {"verdict": "helpful"},
		} {
			like(t, w.ask("POST", path, body, admin, key).want(http.StatusUnprocessableEntity).json(),
				object{"type": "urn:annals:problem:key-reused"}, path)
		}
	})
}
