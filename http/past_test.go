package http_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const unknownEvent = "0198c0de-0000-7000-8000-000000000001"

func TestAMomentLeadsToTheLastEventUntilThen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		moment := func(asOf string, headers ...header) object {
			query := ""
			if asOf != "" {
				query = "?as_of=" + url.QueryEscape(asOf)
			}
			return w.ask("GET", "/v1/log/moment"+query, nil, headers...).want(http.StatusOK).json()
		}
		same(t, moment(""), object{"position": 0.0, "head_position": 0.0}, "an empty log")
		told(w)
		all := w.ask("GET", "/v1/events", nil).want(http.StatusOK).items()
		want := func(i int) object {
			return object{
				"position": float64(i), "event_id": all[i-1]["event_id"], "recorded_at": all[i-1]["recorded_at"],
				"head_position": 7.0, "head_at": all[6]["recorded_at"],
			}
		}
		same(t, moment(""), want(7), "now")
		same(t, moment("2"), want(2), "a position")
		same(t, moment(all[2]["recorded_at"].(string)), want(3), "a time")
		same(t, moment(time.Now().Format(time.RFC3339Nano)), want(7), "a time after the last event")

		hidden := want(2)
		delete(hidden, "event_id")
		eve := header("Annals-On-Behalf-Of: user:eve")
		same(t, moment("2", eve), hidden, "an event that the caller may not read")
		same(t, moment("3", eve), want(3), "an event that the caller may read")
		for _, asOf := range []string{"8", "2999-01-01", "2001-01-01", "someday", "0"} {
			got := w.ask("GET", "/v1/log/moment?as_of="+asOf, nil).want(http.StatusUnprocessableEntity).errors()
			like(t, got, []any{beginning("as_of: ")}, asOf)
		}
	})
}

func TestAnEventIsReadByItsIDWhereTheLogShowsIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		told(w)
		mia, eve := header("Annals-On-Behalf-Of: user:mia"), header("Annals-On-Behalf-Of: user:eve")
		all := w.ask("GET", "/v1/events", nil).want(http.StatusOK).items()
		for _, who := range []header{mia, eve, "Annals-On-Behalf-Of: user:bo"} {
			visible := map[any]bool{}
			for _, e := range w.ask("GET", "/v1/events", nil, who).want(http.StatusOK).items() {
				visible[e["event_id"]] = true
			}
			for _, e := range all {
				got := w.ask("GET", "/v1/events/"+e["event_id"].(string), nil, who)
				if visible[e["event_id"]] {
					same(t, got.want(http.StatusOK).json(), e, who)
				} else {
					got.want(http.StatusNotFound)
				}
			}
		}
		id := all[1]["event_id"].(string)
		for _, unknown := range []string{unknownEvent, "nonsense", strings.ToUpper(id), "urn:uuid:" + id} {
			w.ask("GET", "/v1/events/"+unknown, nil).want(http.StatusNotFound)
			w.ask("GET", "/v1/events/"+unknown+"/effects", nil).want(http.StatusNotFound)
		}
		w.ask("GET", "/v1/events/"+id+"?x=1", nil).want(http.StatusUnprocessableEntity)
	})
}

func TestTheEffectsOfAnEventAreThoseThatNameIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		cause := func(id string) header { return header("Annals-Causation-Id: " + id) }
		first := w.remember("a", "x").header.Get("Annals-Events")
		put := func(method, path string, body any, id string) string {
			a := w.ask(method, path, body, cause(id))
			if a.status >= 300 {
				t.Fatalf("%s: %d %s", a.what, a.status, a.body)
			}
			return a.header.Get("Annals-Events")
		}
		vote := put("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}, first) // 2
		private := item("b", "secret")
		private["scopes"], private["owner"] = []string{"user:bob"}, "user:bob"
		put("POST", "/v1/knowledge", private, first)                                 // 3
		w.remember("c", "y")                                                         // 4
		put("PATCH", "/v1/knowledge/a", object{"scopes": []string{"public"}}, first) // 5
		put("POST", "/v1/knowledge/a/stale", object{"reason": "old"}, vote)          // 6
		effects := func(id string, headers ...header) []float64 {
			return positions(w.ask("GET", "/v1/events/"+id+"/effects", nil, headers...).want(http.StatusOK).items())
		}
		same(t, effects(first), []float64{2, 3, 5}, "of the first event")
		same(t, effects(vote), []float64{6}, "of the vote")
		same(t, effects(first, "Annals-On-Behalf-Of: user:eve"), []float64{2, 5}, "for a caller who may not see the item b")
		chain := w.ask("GET", "/v1/events/"+vote, nil).want(http.StatusOK).json()["caused_by"].([]any)
		like(t, chain, []any{object{"id": first, "position": 1.0}})

		var walked []float64
		next := ""
		for range 3 {
			page := w.ask("GET", "/v1/events/"+first+"/effects?limit=1"+next, nil).want(http.StatusOK)
			walked = append(walked, positions(page.items())...)
			cursor, _ := page.json()["next_cursor"].(string)
			if next = "&cursor=" + cursor; len(walked) == 1 {
				w.ask("GET", "/v1/events/"+vote+"/effects?limit=1"+next, nil).want(http.StatusUnprocessableEntity)
			}
		}
		same(t, walked, []float64{2, 3, 5}, "page by page")
		lines := w.ask("GET", "/v1/events/"+first+"/effects", nil, "Accept: application/x-ndjson").want(http.StatusOK).lines()
		same(t, positions(lines), []float64{2, 3, 5}, "as lines")
		w.ask("PATCH", "/v1/knowledge/a", object{"scopes": []string{"user:default"}}).want(http.StatusOK)
		w.ask("GET", "/v1/events/"+first+"/effects", nil, "Annals-On-Behalf-Of: user:eve").want(http.StatusNotFound)
	})
}

func TestWordsFindOnlyEventsThatTheCallerMayRead(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "用户偏好 \"Go\", über alles")                                                 // 1
		w.ask("POST", "/v1/knowledge/a/stale", object{"reason": "偏好 changed"}).want(http.StatusOK) // 2
		bobs := item("b", "Go, says Bob")
		bobs["scopes"], bobs["owner"], bobs["tags"] = []string{"user:bob"}, "user:bob", object{"偏好": "x"}
		w.ask("POST", "/v1/knowledge", bobs).want(http.StatusCreated) // 3
		find := func(q string, headers ...header) []float64 {
			path := "/v1/events?q=" + url.QueryEscape(q)
			return positions(w.ask("GET", path, nil, headers...).want(http.StatusOK).items())
		}
		for q, want := range map[string][]float64{
			"偏好": {1, 2, 3}, "户偏": {1}, `"go"`: {1}, "GO": {1, 3}, "ÜBER go": {1}, "changed 偏好": {2}, "bob": {3}, "python": nil,
		} {
			same(t, find(q), want, q)
		}
		same(t, find("bob", "Annals-On-Behalf-Of: user:eve"), nil, "eve")
		same(t, find("bob", "Annals-On-Behalf-Of: user:bob"), []float64{3}, "bob")
		w.ask("DELETE", "/v1/knowledge/b?erase=true", nil).want(http.StatusNoContent)
		same(t, find("says"), nil, "an erased text")
		same(t, len(find("b", "Annals-On-Behalf-Of: user:bob")) > 0, true, "its plain fields")
	})
}

func TestAnItemIsComparedAtTwoMoments(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("other", "x")                                                                         // 1
		w.remember("a", "用户偏好 TypeScript, always")                                                       // 2
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "interim", "task": "t"}).want(http.StatusOK) // 3
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "用户喜好 Go, always"}).want(http.StatusOK)      // 4
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful"}).want(http.StatusOK)      // 5
		at := w.ask("GET", "/v1/events?after=1&limit=1", nil).items()[0]["recorded_at"].(string)

		compare := func(query string, headers ...header) object {
			return w.ask("GET", "/v1/knowledge/a/compare?"+query, nil, headers...).want(http.StatusOK).json()
		}
		got := compare("from=2")
		like(t, got, object{
			"from": object{"position": 2.0, "revision": 1.0, "confidence": 0.5},
			"to":   object{"position": 5.0, "revision": 3.0, "confidence": 0.75},
			"changes": []any{
				object{"field": "task", "after": "t", "diff": []any{object{"op": "added", "text": "t"}}},
				object{"field": "content", "before": "用户偏好 TypeScript, always", "after": "用户喜好 Go, always", "diff": count(7)},
				object{"field": "eval.helpful", "before": 1.0, "after": 2.0},
				object{"field": "eval.confidence", "before": 0.5, "after": 0.75, "policy": some{}},
			},
		})
		same(t, compare("from=" + url.QueryEscape(at))["changes"], got["changes"], "from a time")
		step := w.ask("GET", "/v1/knowledge/a/history?diff=true", nil).items()[2]
		same(t, compare("from=3&to=4")["changes"], step["changes"], "one event, as in the history")
		same(t, compare("from=2&to=2")["changes"], any([]any{}), "a moment with itself")
		like(t, compare("from=1&to=2"), object{"from": object{"revision": 0.0}, "to": object{"revision": 1.0}}, "from before it was remembered")

		for query, want := range map[string][]any{
			"":                      {beginning("from: is needed")},
			"from=x&to=y":           {beginning("from: must be a time"), beginning("to: must be a time")},
			"from=99&to=2001-01-01": {beginning("from: lies in the future"), beginning("to: lies before the beginning")},
			"from=4&to=3":           {"to: must not be before from"},
			"from=2&diff=true":      {beginning("diff: is not a parameter")},
		} {
			found := w.ask("GET", "/v1/knowledge/a/compare?"+query, nil).want(http.StatusUnprocessableEntity).errors()
			like(t, found, want, query)
		}
		w.ask("GET", "/v1/knowledge/none/compare?from=2", nil).want(http.StatusNotFound)
		w.ask("GET", "/v1/knowledge/a/compare?from=2", nil, "Annals-On-Behalf-Of: user:eve").want(http.StatusNotFound)

		w.ask("DELETE", "/v1/knowledge/a?erase=true", nil).want(http.StatusNoContent)
		erased := w.ask("GET", "/v1/knowledge/a/compare?from=2", nil).want(http.StatusOK)
		like(t, erased.json(), object{
			"from": object{"text_erased": true}, "to": object{"text_erased": true}, "changes": some{},
		})
		like(t, string(erased.body), lacking("TypeScript"))
		like(t, string(erased.body), lacking("Go"))
	})
}

// Each of these answers is about the caller's own tenant, whatever they name of another.
func TestThePastOfAnotherTenantIsNotThere(t *testing.T) {
	eachPeopled(t, func(t *testing.T, w *world, people map[string]caller) {
		made := w.ask("POST", "/v1/knowledge", item("theirs", canary), people["admin"].headers...).want(http.StatusCreated)
		id := made.header.Get("Annals-Events")
		w.ask("POST", "/v1/tenants", object{"name": "other"}, bearer(rootKey)).want(http.StatusCreated)
		key := w.ask("POST", "/v1/keys", object{"subject": "user:olga", "role": "admin"}, bearer(rootKey), "Annals-Tenant: other").
			want(http.StatusCreated).json()["key"].(string)
		for path, want := range map[string]int{
			"/v1/events/" + id:                    http.StatusNotFound,
			"/v1/events/" + id + "/effects":       http.StatusNotFound,
			"/v1/knowledge/theirs/compare?from=1": http.StatusNotFound,
			"/v1/events?q=" + canary:              http.StatusOK,
			"/v1/log/moment":                      http.StatusOK,
		} {
			got := w.ask("GET", path, nil, bearer(key)).want(want)
			like(t, string(got.body), lacking(canary), path)
			like(t, string(got.body), lacking(id), path)
			w.ask("GET", path, nil).want(http.StatusUnauthorized)
		}
		same(t, len(w.ask("GET", "/v1/events?q="+canary, nil, people["auditor"].headers...).items()), 1, "their own auditor")
	})
}
