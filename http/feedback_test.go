package http_test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestVotesAreCountedOncePerVoterAndTrace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", object{"id": "a", "type": "tool", "content": "x", "scopes": []string{"public"}}).want(http.StatusCreated)
		vote := func(verdict, trace string, as header) *answer {
			return w.ask("POST", "/v1/knowledge/a/feedback", object{
				"verdict": verdict, "trace_id": trace, "query": "q-" + trace, "outcome": "o",
			}, as).want(http.StatusOK)
		}
		first := vote("helpful", "t1", "Annals-Actor: agent:one")
		vote("helpful", "t1", "Annals-Actor: agent:two")
		vote("helpful", "t2", "Annals-Actor: agent:one")
		changed := vote("harmful", "t1", "Annals-Actor: agent:one")
		again := vote("harmful", "t1", "Annals-Actor: agent:one")
		same(t, changed.header.Get("Annals-Outcome"), "recorded")
		same(t, again.header.Get("Annals-Outcome")+again.header.Get("Annals-Events"), "unchanged")
		same(t, changed.header.Get("ETag"), `"1"`, "a vote made revision")
		o := w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK).json()
		like(t, o, object{"eval": object{"helpful": 3.0, "harmful": 1.0}})
		harmful, _ := pick(o, "eval", "harmful_history").([]any)
		like(t, harmful, []any{object{"trace_id": "t1", "by": "agent:one"}}, "harmful history is")
		w.ask("DELETE", "/v1/knowledge/a/feedback?trace_id=t2", nil, "Annals-Actor: agent:one").want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/a/feedback?event_id="+changed.header.Get("Annals-Events"), nil).want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/a/feedback?event_id="+first.header.Get("Annals-Events"), nil).want(http.StatusNotFound)
		o = w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK).json()
		like(t, o, object{"eval": object{"helpful": 2.0, "harmful": 0.0}})
	})
}

func TestADayHasRoomForTenTracesOfAVoter(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		w.remember("b", "y")
		vote := func(id, trace, verdict string) *answer {
			return w.ask("POST", "/v1/knowledge/"+id+"/feedback", object{"verdict": verdict, "trace_id": trace}, "Annals-Actor: agent:one")
		}
		for i := range 10 {
			vote("a", fmt.Sprint("t", i), "helpful").want(http.StatusOK)
		}
		refused := vote("a", "t10", "helpful").want(http.StatusConflict).json()
		like(t, refused, object{"fix": containing("midnight UTC")})
		vote("a", "t3", "harmful").want(http.StatusOK)
		vote("b", "t10", "helpful").want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "helpful", "trace_id": "t10"}, "Annals-Actor: agent:two").want(http.StatusOK)
		o := w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK).json()
		like(t, o, object{"eval": object{"helpful": 11.0, "harmful": 1.0}})
	})
}

func TestABadVoteIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		got := w.ask("POST", "/v1/knowledge/a/feedback", object{"verdict": "meh", "query": "\x00", "when": "now", "trace_id": 4}).want(http.StatusUnprocessableEntity)
		want := []string{
			"trace_id: must be a string", "when: is not a field here",
			"verdict: must be one of helpful, harmful", "query: must not contain NUL characters",
		}
		same(t, got.errors(), want)
		w.ask("DELETE", "/v1/knowledge/a/feedback?event_id=7&trace_id=%00&by=me", nil).want(http.StatusUnprocessableEntity)
		w.ask("DELETE", "/v1/knowledge/a/feedback", nil).want(http.StatusNotFound)
	})
}

func TestReportsOfStalenessLastUntilConfirmed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", object{"id": "a", "type": "tool", "content": "x", "scopes": []string{"public"}}).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge/a/stale", nil, "Annals-Actor: user:one").want(http.StatusOK)
		o := w.ask("POST", "/v1/knowledge/a/stale", object{"reason": "v2 is out"}, "Annals-Actor: user:two").want(http.StatusOK).json()
		like(t, o, object{"stale": object{"reporters": 2.0, "reason": "v2 is out"}})
		same(t, pick(o, "eval", "confidence"), 0.125)
		same(t, len(w.ask("GET", "/v1/knowledge?stale=true", nil).want(http.StatusOK).items()), 1)
		w.ask("POST", "/v1/knowledge/a/confirm", object{"until": "2020-01-01T00:00:00Z"}).want(http.StatusUnprocessableEntity)
		o = w.ask("POST", "/v1/knowledge/a/confirm", object{"until": "2999-01-01T00:00:00+01:00", "reason": "tried"}).want(http.StatusOK).json()
		like(t, o, object{"stale": object{"reporters": 0.0}, "confirm_until": "2998-12-31T23:00:00Z"})
		w.ask("POST", "/v1/knowledge/a/stale", `{"reason": 7}`).want(http.StatusUnprocessableEntity)
		w.ask("POST", "/v1/knowledge/a/stale", "reason=x", "Content-Type: application/x-www-form-urlencoded").want(http.StatusUnsupportedMediaType)
	})
}
