package http_test

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestVotesAreCountedOncePerVoterAndTrace(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Object{"id": "a", "type": "tool", "content": "x", "scopes": []string{"public"}}).Want(http.StatusCreated)
		vote := func(verdict, trace string, as Header) *Answer {
			return w.Ask("POST", "/v1/knowledge/a/feedback", Object{
				"verdict": verdict, "trace_id": trace, "query": "q-" + trace, "outcome": "o",
			}, as).Want(http.StatusOK)
		}
		first := vote("helpful", "t1", "Annals-Actor: agent:one")
		vote("helpful", "t1", "Annals-Actor: agent:two")
		vote("helpful", "t2", "Annals-Actor: agent:one")
		changed := vote("harmful", "t1", "Annals-Actor: agent:one")
		again := vote("harmful", "t1", "Annals-Actor: agent:one")
		Same(t, changed.Header.Get("Annals-Outcome"), "recorded")
		Same(t, again.Header.Get("Annals-Outcome")+again.Header.Get("Annals-Events"), "unchanged")
		Same(t, changed.Header.Get("ETag"), `"1"`, "a vote made revision")
		o := w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK).JSON()
		Like(t, o, Object{"eval": Object{"helpful": 3.0, "harmful": 1.0}})
		harmful, _ := Pick(o, "eval", "harmful_history").([]any)
		Like(t, harmful, []any{Object{"trace_id": "t1", "by": "agent:one"}}, "harmful history is")
		w.Ask("DELETE", "/v1/knowledge/a/feedback?trace_id=t2", nil, "Annals-Actor: agent:one").Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/a/feedback?event_id="+changed.Header.Get("Annals-Events"), nil).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/a/feedback?event_id="+first.Header.Get("Annals-Events"), nil).Want(http.StatusNotFound)
		o = w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK).JSON()
		Like(t, o, Object{"eval": Object{"helpful": 2.0, "harmful": 0.0}})
	})
}

func TestADayHasRoomForTenTracesOfAVoter(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		w.Remember("b", "y")
		vote := func(id, trace, verdict string) *Answer {
			return w.Ask("POST", "/v1/knowledge/"+id+"/feedback", Object{"verdict": verdict, "trace_id": trace}, "Annals-Actor: agent:one")
		}
		for i := range 10 {
			vote("a", fmt.Sprint("t", i), "helpful").Want(http.StatusOK)
		}
		refused := vote("a", "t10", "helpful").Want(http.StatusConflict).JSON()
		Like(t, refused, Object{"fix": Containing("midnight UTC")})
		vote("a", "t3", "harmful").Want(http.StatusOK)
		vote("b", "t10", "helpful").Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "helpful", "trace_id": "t10"}, "Annals-Actor: agent:two").Want(http.StatusOK)
		o := w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK).JSON()
		Like(t, o, Object{"eval": Object{"helpful": 11.0, "harmful": 1.0}})
	})
}

func TestABadVoteIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		got := w.Ask("POST", "/v1/knowledge/a/feedback", Object{"verdict": "meh", "query": "\x00", "when": "now", "trace_id": 4}).Want(http.StatusUnprocessableEntity)
		want := []string{
			"trace_id: must be a string", "when: is not a field here",
			"verdict: must be one of helpful, harmful", "query: must not contain NUL characters",
		}
		Same(t, got.Errors(), want)
		w.Ask("DELETE", "/v1/knowledge/a/feedback?event_id=7&trace_id=%00&by=me", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("DELETE", "/v1/knowledge/a/feedback", nil).Want(http.StatusNotFound)
	})
}

func TestReportsOfStalenessLastUntilConfirmed(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Object{"id": "a", "type": "tool", "content": "x", "scopes": []string{"public"}}).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge/a/stale", nil, "Annals-Actor: user:one").Want(http.StatusOK)
		o := w.Ask("POST", "/v1/knowledge/a/stale", Object{"reason": "v2 is out"}, "Annals-Actor: user:two").Want(http.StatusOK).JSON()
		Like(t, o, Object{"stale": Object{"reporters": 2.0, "reason": "v2 is out"}})
		Same(t, Pick(o, "eval", "confidence"), 0.125)
		Same(t, len(w.Ask("GET", "/v1/knowledge?stale=true", nil).Want(http.StatusOK).Items()), 1)
		w.Ask("POST", "/v1/knowledge/a/confirm", Object{"until": "2020-01-01T00:00:00Z"}).Want(http.StatusUnprocessableEntity)
		o = w.Ask("POST", "/v1/knowledge/a/confirm", Object{"until": "2999-01-01T00:00:00+01:00", "reason": "tried"}).Want(http.StatusOK).JSON()
		Like(t, o, Object{"stale": Object{"reporters": 0.0}, "confirm_until": "2998-12-31T23:00:00Z"})
		w.Ask("POST", "/v1/knowledge/a/stale", `{"reason": 7}`).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/knowledge/a/stale", "reason=x", "Content-Type: application/x-www-form-urlencoded").Want(http.StatusUnsupportedMediaType)
	})
}
