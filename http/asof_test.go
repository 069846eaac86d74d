package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/annals-kb/annals/http/servertest"
)

// followPast lets the projection of the past follow the log until the test ends.
func (w *world) followPast() {
	w.t.Helper()
	servertest.Follow(w.t, w.past.Follow)
}

func TestThePastCanBeAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.followPast()
		w.ask("POST", "/v1/knowledge", object{
			"id": "a", "type": "tool", "content": "retry with jitter", "scopes": []string{"public"}, "owner": "user:bob", "tags": object{"x": "y"},
		}).want(http.StatusCreated) // 1
		before := time.Now()
		time.Sleep(time.Until(before.Add(2 * time.Millisecond)))
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful", "query": "why"}).want(http.StatusOK)                                  // 2
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "never retry", "scopes": []string{"user:bob"}}).want(http.StatusOK)                      // 3, 4
		w.ask("DELETE", "/v1/knowledge/a", object{"reason": "old"}).want(http.StatusNoContent)                                                       // 5
		w.ask("POST", "/v1/knowledge", object{"id": "b", "type": "tool", "content": "later", "scopes": []string{"public"}}).want(http.StatusCreated) // 6

		for _, asOf := range []string{"1", before.UTC().Format(time.RFC3339Nano), before.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)} {
			query := "?as_of=" + url.QueryEscape(asOf)
			k := w.ask("GET", "/v1/knowledge/a"+query, nil).want(http.StatusOK).json()
			like(t, k, object{"content": "retry with jitter", "eval": object{"helpful": 1.0}, "revision": 1.0}, "as of", asOf)
			list := w.ask("GET", "/v1/knowledge"+query+"&tag=x:y", nil).want(http.StatusOK).items()
			like(t, list, []any{object{"content": "retry with jitter"}}, "as of", asOf)
			found := w.ask("POST", "/v1/search", object{"query": "jitter", "as_of": asOf}).want(http.StatusOK).items()
			like(t, found, []any{object{"knowledge": object{"content": "retry with jitter"}}}, "as of", asOf)
		}
		voted := w.ask("GET", "/v1/knowledge/a?as_of=2", nil).want(http.StatusOK).json()
		like(t, voted, object{"eval": object{"helpful_history": count(1), "confidence": 0.75}}, "after the vote")
		w.ask("GET", "/v1/knowledge/a?as_of=5", nil).want(http.StatusGone)
		w.ask("GET", "/v1/knowledge/b?as_of=5", nil).want(http.StatusNotFound)

		// Who may see it is a question of today: only its owner and those who see all.
		for _, who := range []header{"Annals-On-Behalf-Of: user:bob"} {
			w.ask("GET", "/v1/knowledge/a?as_of=1", nil, who).want(http.StatusOK)
		}
		eve := header("Annals-On-Behalf-Of: user:eve")
		w.ask("GET", "/v1/knowledge/a?as_of=1", nil, eve).want(http.StatusNotFound)
		like(t, w.ask("GET", "/v1/knowledge?as_of=1", nil, eve).want(http.StatusOK).items(), count(0), "eve lists")
		found := w.ask("POST", "/v1/search", object{"query": "jitter", "as_of": 1}, eve).want(http.StatusOK).items()
		like(t, found, count(0), "eve finds")
	})
}

func TestThePastIsListedByPlaceWhateverMetaSays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.followPast()
		w.ask("POST", "/v1/knowledge", `{"id":"a","type":"tool","content":"x","tags":{"k":"v"},"meta":{"cut off":"\ud83d"}}`).want(http.StatusCreated)
		w.remember("b", "y")
		for _, filter := range []string{"uri=viking://user/default/memories/", "tag=k:v"} {
			same(t, len(w.ask("GET", "/v1/knowledge?as_of=1&"+filter, nil).want(http.StatusOK).items()), 1, filter)
		}
	})
}

func TestAMomentThatWasNotIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.followPast()
		for i := range 4 {
			w.remember(fmt.Sprint("i", i), "x")
		}
		for asOf, want := range map[string]string{
			"5":                    "as_of: lies in the future: the log ends at position 4",
			"2999-01-01":           "as_of: lies in the future",
			"2001-01-01T00:00:00Z": "as_of: lies before the beginning: the log begins at ",
			"0":                    "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
			"someday":              "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
			"-1":                   "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
		} {
			for _, a := range []*answer{
				w.ask("GET", "/v1/knowledge/i1?as_of="+asOf, nil), w.ask("GET", "/v1/knowledge?as_of="+asOf, nil),
				w.ask("POST", "/v1/search", object{"query": "x", "as_of": asOf}),
			} {
				got := a.want(http.StatusUnprocessableEntity).errors()
				like(t, got, []any{beginning(want)}, a.what, asOf)
			}
		}
		// A cursor belongs to its moment.
		next := w.ask("GET", "/v1/knowledge?limit=1&as_of=3", nil).want(http.StatusOK).json()["next_cursor"].(string)
		w.ask("GET", "/v1/knowledge?limit=1&as_of=4&cursor="+next, nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/knowledge?limit=1&cursor="+next, nil).want(http.StatusUnprocessableEntity)
		same(t, ids(w.ask("GET", "/v1/knowledge?as_of=3&cursor="+next, nil).want(http.StatusOK).items()),
			[]string{"i1", "i0"})
	})
}
