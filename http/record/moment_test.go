package record_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/annals-kb/annals/http/servertest"
)

const unknownEvent = "0198c0de-0000-7000-8000-000000000001"

func TestAMomentLeadsToTheLastEventUntilThen(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		moment := func(asOf string, headers ...Header) Object {
			query := ""
			if asOf != "" {
				query = "?as_of=" + url.QueryEscape(asOf)
			}
			return w.Ask("GET", "/v1/log/moment"+query, nil, headers...).Want(http.StatusOK).JSON()
		}
		Same(t, moment(""), Object{"position": 0.0, "head_position": 0.0}, "an empty log")
		told(w)
		all := w.Ask("GET", "/v1/events", nil).Want(http.StatusOK).Items()
		want := func(i int) Object {
			return Object{
				"position": float64(i), "event_id": all[i-1]["event_id"], "recorded_at": all[i-1]["recorded_at"],
				"head_position": 7.0, "head_at": all[6]["recorded_at"],
			}
		}
		Same(t, moment(""), want(7), "now")
		Same(t, moment("2"), want(2), "a position")
		Same(t, moment(all[2]["recorded_at"].(string)), want(3), "a time")
		Same(t, moment(time.Now().Format(time.RFC3339Nano)), want(7), "a time after the last event")

		hidden := want(2)
		delete(hidden, "event_id")
		eve := Header("Annals-On-Behalf-Of: user:eve")
		Same(t, moment("2", eve), hidden, "an event that the caller may not read")
		Same(t, moment("3", eve), want(3), "an event that the caller may read")
		for _, asOf := range []string{"8", "2999-01-01", "2001-01-01", "someday", "0"} {
			got := w.Ask("GET", "/v1/log/moment?as_of="+asOf, nil).Want(http.StatusUnprocessableEntity).Errors()
			Like(t, got, []any{Beginning("as_of: ")}, asOf)
		}
	})
}

func TestAnEventIsReadByItsIDWhereTheLogShowsIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		mia, eve := Header("Annals-On-Behalf-Of: user:mia"), Header("Annals-On-Behalf-Of: user:eve")
		all := w.Ask("GET", "/v1/events", nil).Want(http.StatusOK).Items()
		for _, who := range []Header{mia, eve, "Annals-On-Behalf-Of: user:bo"} {
			visible := map[any]bool{}
			for _, e := range w.Ask("GET", "/v1/events", nil, who).Want(http.StatusOK).Items() {
				visible[e["event_id"]] = true
			}
			for _, e := range all {
				got := w.Ask("GET", "/v1/events/"+e["event_id"].(string), nil, who)
				if visible[e["event_id"]] {
					Same(t, got.Want(http.StatusOK).JSON(), e, who)
				} else {
					got.Want(http.StatusNotFound)
				}
			}
		}
		id := all[1]["event_id"].(string)
		for _, unknown := range []string{unknownEvent, "nonsense", strings.ToUpper(id), "urn:uuid:" + id} {
			w.Ask("GET", "/v1/events/"+unknown, nil).Want(http.StatusNotFound)
			w.Ask("GET", "/v1/events/"+unknown+"/effects", nil).Want(http.StatusNotFound)
		}
		w.Ask("GET", "/v1/events/"+id+"?x=1", nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestTheEffectsOfAnEventAreThoseThatNameIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		cause := func(id string) Header { return Header("Annals-Causation-Id: " + id) }
		first := w.Remember("a", "x").Header.Get("Annals-Events")
		put := func(method, path string, body any, id string) string {
			a := w.Ask(method, path, body, cause(id))
			if a.Status >= 300 {
				t.Fatalf("%s: %d %s", a.What, a.Status, a.Body)
			}
			return a.Header.Get("Annals-Events")
		}
		vote := put("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}, first) // 2
		private := Item("b", "secret")
		private["scopes"], private["owner"] = []string{"user:bob"}, "user:bob"
		put("POST", "/v1/knowledge", private, first)                                 // 3
		w.Remember("c", "y")                                                         // 4
		put("PATCH", "/v1/knowledge/a", Object{"scopes": []string{"public"}}, first) // 5
		put("POST", "/v1/knowledge/a/stale", Object{"reason": "old"}, vote)          // 6
		effects := func(id string, headers ...Header) []float64 {
			return Positions(w.Ask("GET", "/v1/events/"+id+"/effects", nil, headers...).Want(http.StatusOK).Items())
		}
		Same(t, effects(first), []float64{2, 3, 5}, "of the first event")
		Same(t, effects(vote), []float64{6}, "of the vote")
		Same(t, effects(first, "Annals-On-Behalf-Of: user:eve"), []float64{2, 5}, "for a caller who may not see the item b")
		chain := w.Ask("GET", "/v1/events/"+vote, nil).Want(http.StatusOK).JSON()["caused_by"].([]any)
		Like(t, chain, []any{Object{"id": first, "position": 1.0}})

		Same(t, Positions(w.Pages("/v1/events/"+first+"/effects?limit=1")), []float64{2, 3, 5}, "page by page")
		cursor := w.Ask("GET", "/v1/events/"+first+"/effects?limit=1", nil).JSON()["next_cursor"].(string)
		w.Ask("GET", "/v1/events/"+vote+"/effects?limit=1&cursor="+cursor, nil).Want(http.StatusUnprocessableEntity)
		lines := w.Ask("GET", "/v1/events/"+first+"/effects", nil, "Accept: application/x-ndjson").Want(http.StatusOK).Lines()
		Same(t, Positions(lines), []float64{2, 3, 5}, "as lines")
		w.Ask("PATCH", "/v1/knowledge/a", Object{"scopes": []string{"user:default"}}).Want(http.StatusOK)
		w.Ask("GET", "/v1/events/"+first+"/effects", nil, "Annals-On-Behalf-Of: user:eve").Want(http.StatusNotFound)
	})
}

func TestWordsFindOnlyEventsThatTheCallerMayRead(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "用户偏好 \"Go\", über alles")                                                 // 1
		w.Ask("POST", "/v1/knowledge/a/stale", Object{"reason": "偏好 changed"}).Want(http.StatusOK) // 2
		bobs := Item("b", "Go, says Bob")
		bobs["scopes"], bobs["owner"], bobs["tags"] = []string{"user:bob"}, "user:bob", Object{"偏好": "x"}
		w.Ask("POST", "/v1/knowledge", bobs).Want(http.StatusCreated) // 3
		find := func(q string, headers ...Header) []float64 {
			path := "/v1/events?q=" + url.QueryEscape(q)
			return Positions(w.Ask("GET", path, nil, headers...).Want(http.StatusOK).Items())
		}
		for q, want := range map[string][]float64{
			"偏好": {1, 2, 3}, "户偏": {1}, `"go"`: {1}, "GO": {1, 3}, "ÜBER go": {1}, "changed 偏好": {2}, "bob": {3}, "python": nil,
		} {
			Same(t, find(q), want, q)
		}
		Same(t, find("bob", "Annals-On-Behalf-Of: user:eve"), nil, "eve")
		Same(t, find("bob", "Annals-On-Behalf-Of: user:bob"), []float64{3}, "bob")
		w.Ask("DELETE", "/v1/knowledge/b?erase=true", nil).Want(http.StatusNoContent)
		Same(t, find("says"), nil, "an erased text")
		Same(t, len(find("b", "Annals-On-Behalf-Of: user:bob")) > 0, true, "its plain fields")
	})
}

func TestAnItemIsComparedAtTwoMoments(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("other", "x")                                                                         // 1
		w.Remember("a", "用户偏好 TypeScript, always")                                                       // 2
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "interim", "task": "t"}).Want(http.StatusOK) // 3
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "用户喜好 Go, always"}).Want(http.StatusOK)      // 4
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful"}).Want(http.StatusOK)      // 5
		at := w.Ask("GET", "/v1/events?after=1&limit=1", nil).Items()[0]["recorded_at"].(string)

		compare := func(query string, headers ...Header) Object {
			return w.Ask("GET", "/v1/knowledge/a/compare?"+query, nil, headers...).Want(http.StatusOK).JSON()
		}
		got := compare("from=2")
		Like(t, got, Object{
			"from": Object{"position": 2.0, "revision": 1.0, "confidence": 0.5},
			"to":   Object{"position": 5.0, "revision": 3.0, "confidence": 0.75},
			"changes": []any{
				Object{"field": "task", "after": "t", "diff": []any{Object{"op": "added", "text": "t"}}},
				Object{"field": "content", "before": "用户偏好 TypeScript, always", "after": "用户喜好 Go, always", "diff": Count(7)},
				Object{"field": "eval.helpful", "before": 1.0, "after": 2.0},
				Object{"field": "eval.confidence", "before": 0.5, "after": 0.75, "policy": Some{}},
			},
		})
		Same(t, compare("from=" + url.QueryEscape(at))["changes"], got["changes"], "from a time")
		step := w.Ask("GET", "/v1/knowledge/a/history?diff=true", nil).Items()[2]
		Same(t, compare("from=3&to=4")["changes"], step["changes"], "one event, as in the history")
		Same(t, compare("from=2&to=2")["changes"], any([]any{}), "a moment with itself")
		Like(t, compare("from=1&to=2"), Object{"from": Object{"revision": 0.0}, "to": Object{"revision": 1.0}}, "from before it was remembered")

		for query, want := range map[string][]any{
			"":                      {Beginning("from: is needed")},
			"from=x&to=y":           {Beginning("from: must be a time"), Beginning("to: must be a time")},
			"from=99&to=2001-01-01": {Beginning("from: lies in the future"), Beginning("to: lies before the beginning")},
			"from=4&to=3":           {"to: must not be before from"},
			"from=2&diff=true":      {Beginning("diff: is not a parameter")},
		} {
			found := w.Ask("GET", "/v1/knowledge/a/compare?"+query, nil).Want(http.StatusUnprocessableEntity).Errors()
			Like(t, found, want, query)
		}
		w.Ask("GET", "/v1/knowledge/none/compare?from=2", nil).Want(http.StatusNotFound)
		w.Ask("GET", "/v1/knowledge/a/compare?from=2", nil, "Annals-On-Behalf-Of: user:eve").Want(http.StatusNotFound)

		w.Ask("DELETE", "/v1/knowledge/a?erase=true", nil).Want(http.StatusNoContent)
		erased := w.Ask("GET", "/v1/knowledge/a/compare?from=2", nil).Want(http.StatusOK)
		Like(t, erased.JSON(), Object{
			"from": Object{"text_erased": true}, "to": Object{"text_erased": true}, "changes": Some{},
		})
		Like(t, string(erased.Body), Lacking("TypeScript"))
		Like(t, string(erased.Body), Lacking("Go"))
	})
}
