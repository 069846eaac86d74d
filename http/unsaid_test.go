package http_test

import (
	"net/http"
	"testing"
)

// lookFor is up to where a search has looked.
func (w *world) lookFor(question object) any {
	w.t.Helper()
	question["position"] = true
	return w.ask("POST", "/v1/search", question).want(http.StatusOK).json()["position"]
}

func TestASearchSaysUpToWhereItHasLooked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.followPast()
		got := []any{w.lookFor(object{"query": "retry"})}
		w.remember("a", "retry")
		got = append(got, w.lookFor(object{"query": "retry"}))
		w.remember("b", "retry")
		got = append(got, w.lookFor(object{"query": "retry"}), w.lookFor(object{"query": "retry", "as_of": 1}))
		same(t, got, []any{0.0, 1.0, 2.0, 1.0})
		if _, told := w.ask("POST", "/v1/search", object{"query": "retry"}).want(http.StatusOK).json()["position"]; told {
			t.Error("a position that nobody asked for")
		}
	})
}

func TestWhatWasSaidSinceASearchIsNotRememberedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const key = header("Idempotency-Key: k")
		first := w.ask("POST", "/v1/knowledge?unless_said_since=0", item("a", "Retry 429s."), key).want(http.StatusCreated)
		again := w.ask("POST", "/v1/knowledge?unless_said_since=0", item("a", "Retry 429s."), key).want(http.StatusCreated)
		same(t, string(first.body), string(again.body))
		same(t, again.header.Get("Idempotent-Replayed"), "true")
		overtaken := w.ask("POST", "/v1/knowledge?unless_said_since=0", item("b", "Retry 429s.")).want(http.StatusPreconditionFailed)
		same(t, overtaken.json()["detail"], "a came to say the same after position 0")
		w.ask("GET", "/v1/knowledge/b", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/knowledge?unless_said_since=0", item("c", "Retry 503s.")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge?unless_said_since=1", item("b", "Retry 429s.")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge?unless_said_since=0&update=true", item("c", "Retry 429s.")).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge", item("d", "Retry 429s.")).want(http.StatusCreated)

		const beside = `{"id":"h","type":"tool","content":"Half","meta":{"content":"the other"}}`
		w.ask("POST", "/v1/knowledge?unless_said_since=4", beside).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge?unless_said_since=4", item("i", "the other")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge?unless_said_since=4", item("j", "Half")).want(http.StatusPreconditionFailed)
	})
}

func TestAPositionThatCannotBeIsNamedAndManyHaveNone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		refused := func(position string, body any, message string, h ...header) {
			t.Helper()
			got := w.ask("POST", "/v1/knowledge?unless_said_since="+position, body, h...).want(http.StatusUnprocessableEntity).errors()
			same(t, got, []string{"unless_said_since: " + message}, position)
		}
		for _, position := range []string{"-1", "x", "1.5"} {
			refused(position, item("a", "x"), "must be a whole number of 0 or more")
		}
		refused("1", item("a", "x"), "is beyond the log, which ends at 0")
		const alone = "is for one item: send what it is for by itself"
		refused("0", []object{item("a", "x")}, alone)
		refused("0", `{"id":"a","type":"tool","content":"x"}`, alone, ndjson)
	})
}
