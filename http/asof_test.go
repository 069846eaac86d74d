package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestThePastCanBeAsked(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.FollowPast()
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "a", "type": "tool", "content": "retry with jitter", "scopes": []string{"public"}, "owner": "user:bob", "tags": Object{"x": "y"},
		}).Want(http.StatusCreated) // 1
		before, err := time.Parse(time.RFC3339Nano, w.Logged("knowledge:a")[0]["recorded_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful", "query": "why"}).Want(http.StatusOK)                                  // 2
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "never retry", "scopes": []string{"user:bob"}}).Want(http.StatusOK)                      // 3, 4
		w.Ask("DELETE", "/v1/knowledge/a", Object{"reason": "old"}).Want(http.StatusNoContent)                                                       // 5
		w.Ask("POST", "/v1/knowledge", Object{"id": "b", "type": "tool", "content": "later", "scopes": []string{"public"}}).Want(http.StatusCreated) // 6

		for _, asOf := range []string{"1", before.UTC().Format(time.RFC3339Nano), before.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)} {
			query := "?as_of=" + url.QueryEscape(asOf)
			k := w.Ask("GET", "/v1/knowledge/a"+query, nil).Want(http.StatusOK).JSON()
			Like(t, k, Object{"content": "retry with jitter", "eval": Object{"helpful": 1.0}, "revision": 1.0}, "as of", asOf)
			list := w.Ask("GET", "/v1/knowledge"+query+"&tag=x:y", nil).Want(http.StatusOK).Items()
			Like(t, list, []any{Object{"content": "retry with jitter"}}, "as of", asOf)
			found := w.Ask("POST", "/v1/search", Object{"query": "jitter", "as_of": asOf}).Want(http.StatusOK).Items()
			Like(t, found, []any{Object{"knowledge": Object{"content": "retry with jitter"}}}, "as of", asOf)
		}
		voted := w.Ask("GET", "/v1/knowledge/a?as_of=2", nil).Want(http.StatusOK).JSON()
		Like(t, voted, Object{"eval": Object{"helpful_history": Count(1), "confidence": 0.75}}, "after the vote")
		w.Ask("GET", "/v1/knowledge/a?as_of=5", nil).Want(http.StatusGone)
		w.Ask("GET", "/v1/knowledge/b?as_of=5", nil).Want(http.StatusNotFound)

		// Who may see it is a question of today: only its owner and those who see all.
		for _, who := range []Header{"Annals-On-Behalf-Of: user:bob"} {
			w.Ask("GET", "/v1/knowledge/a?as_of=1", nil, who).Want(http.StatusOK)
		}
		eve := Header("Annals-On-Behalf-Of: user:eve")
		w.Ask("GET", "/v1/knowledge/a?as_of=1", nil, eve).Want(http.StatusNotFound)
		Like(t, w.Ask("GET", "/v1/knowledge?as_of=1", nil, eve).Want(http.StatusOK).Items(), Count(0), "eve lists")
		found := w.Ask("POST", "/v1/search", Object{"query": "jitter", "as_of": 1}, eve).Want(http.StatusOK).Items()
		Like(t, found, Count(0), "eve finds")
	})
}

func TestThePastIsListedByPlaceWhateverMetaSays(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.FollowPast()
		w.Ask("POST", "/v1/knowledge", `{"id":"a","type":"tool","content":"x","tags":{"k":"v"},"meta":{"cut off":"\ud83d"}}`).Want(http.StatusCreated)
		w.Remember("b", "y")
		for _, filter := range []string{"uri=viking://user/default/memories/", "tag=k:v"} {
			Same(t, len(w.Ask("GET", "/v1/knowledge?as_of=1&"+filter, nil).Want(http.StatusOK).Items()), 1, filter)
		}
	})
}

func TestAMomentThatWasNotIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.FollowPast()
		for i := range 4 {
			w.Remember(fmt.Sprint("i", i), "x")
		}
		for asOf, want := range map[string]string{
			"5":                    "as_of: lies in the future: the log ends at position 4",
			"2999-01-01":           "as_of: lies in the future",
			"2001-01-01T00:00:00Z": "as_of: lies before the beginning: the log begins at ",
			"0":                    "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
			"someday":              "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
			"-1":                   "as_of: must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17",
		} {
			for _, a := range []*Answer{
				w.Ask("GET", "/v1/knowledge/i1?as_of="+asOf, nil), w.Ask("GET", "/v1/knowledge?as_of="+asOf, nil),
				w.Ask("POST", "/v1/search", Object{"query": "x", "as_of": asOf}),
			} {
				got := a.Want(http.StatusUnprocessableEntity).Errors()
				Like(t, got, []any{Beginning(want)}, a.What, asOf)
			}
		}
		// A cursor belongs to its moment.
		next := w.Ask("GET", "/v1/knowledge?limit=1&as_of=3", nil).Want(http.StatusOK).JSON()["next_cursor"].(string)
		w.Ask("GET", "/v1/knowledge?limit=1&as_of=4&cursor="+next, nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/knowledge?limit=1&cursor="+next, nil).Want(http.StatusUnprocessableEntity)
		Same(t, IDs(w.Ask("GET", "/v1/knowledge?as_of=3&cursor="+next, nil).Want(http.StatusOK).Items()),
			[]string{"i1", "i0"})
	})
}
