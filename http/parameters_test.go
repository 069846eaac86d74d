package http_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestABadCursorAndARepeatedOrEmptyParameterAreNamedWithTheOthers(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for path, want := range map[string][]string{
			"/v1/knowledge?cursor=x&limit=0&type=feeling":                           {"cursor", "limit", "type"},
			"/v1/events?cursor=x&limit=0&order=sideways":                            {"cursor", "order", "limit"},
			"/v1/knowledge?limit=1&limit=2&owner=user:1&owner=user:2&owned=user:1":  {"limit", "owned", "owner"},
			"/v1/knowledge?limit=2&cursor=AAAAAAAAAAVIFF3N-s5a9Q&cursor=AAAAAAAAAA": {"cursor"},
			// What is empty comes from a variable that was not set, and would answer with everything.
			"/v1/knowledge?scope=&limit=&as_of=&type=&stale=&uri=&tag=&created_from=&polarity=sideways": {
				"as_of", "created_from", "limit", "scope", "stale", "tag", "type", "uri", "polarity",
			},
			"/v1/knowledge?type=tool&type=&owner&owned=":                  {"owned", "owner", "type"},
			"/v1/events?actor=&after=&name=&order=&from=&stream=&limit=0": {"actor", "after", "from", "name", "order", "stream", "limit"},
			"/v1/knowledge/a?as_of=&min_position=":                        {"as_of", "min_position"},
			"/v1/knowledge/a/history?diff=&limit=x":                       {"diff", "limit"},
			"/v1/reports/actor?actor=":                                    {"actor"},
			"/v1/reviews?queue=mine&mine=x&limit=501&owner=bob&scope=":    {"scope", "owner", "queue", "mine", "limit"},
			"/v1/reviews?mine=true&owner=user:bob":                        {"mine"},
			"/v1/knowledge?cursor=":                                       {"cursor"},
			"/v1/events?cursor=&limit=0":                                  {"cursor", "limit"},
			"/healthz?verbose=1":                                          {"verbose"},
			"/readyz?exclude=database&verbose=":                           {"exclude", "verbose"},
		} {
			var got []string
			for _, bad := range w.Ask("GET", path, nil).Want(http.StatusUnprocessableEntity).Errors() {
				field, _, _ := strings.Cut(bad, ":")
				got = append(got, field)
			}
			Same(t, got, want, path)
		}
		// What has alternatives may be repeated.
		w.Ask("GET", "/v1/knowledge?type=tool&type=plan&status=active&status=deleted", nil).Want(http.StatusOK)
		// Nothing to say is an answer.
		w.Remember("a", "x")
		for _, erase := range []string{"", "maybe", "1", "True"} { // what destroys is never guessed
			got := w.Ask("DELETE", "/v1/knowledge/a?reason_code=x&erase="+erase, nil).Want(http.StatusUnprocessableEntity)
			if kind := got.JSON()["type"]; kind != "urn:annals:problem:invalid" || !strings.HasPrefix(got.Errors()[0], "erase: ") {
				t.Errorf("erase=%s: %s", erase, got.Body)
			}
		}
		forgetting := w.Ask("DELETE", "/v1/knowledge/a?reason_code=gdpr-17&ticket=T-1&legal_basis=", nil).Want(http.StatusUnprocessableEntity).Errors()
		const ground = ": is for erase=true; forgetting takes a reason"
		Same(t, forgetting, []string{"reason_code" + ground, "ticket" + ground})
		w.Ask("DELETE", "/v1/knowledge/a?reason=", nil).Want(http.StatusNoContent)
	})
}

// TestWhatABodyLeavesEmptyIsNotTakenForLeftOut asks for nobody and for nothing in particular, as a variable does that was not set.
func TestWhatABodyLeavesEmptyIsNotTakenForLeftOut(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		nobody := Object{"user_id": "", "project_id": "", "team_id": nil, "org_id": "o"}
		for path, c := range map[string]struct {
			asked Object
			want  []string
		}{
			"/v1/search": {
				Object{"query": "x", "context": nobody, "scope": "", "owner": "", "uri": "", "trace_id": "", "as_of": "", "polarity": nil},
				[]string{"as_of", "context.project_id", "context.user_id", "owner", "scope", "trace_id", "uri"},
			},
			"/v1/context": {Object{"stage": "start", "context": nobody}, []string{"context.project_id", "context.user_id"}},
		} {
			got := w.Ask("POST", path, c.asked).Want(http.StatusUnprocessableEntity).Errors()
			slices.Sort(got)
			for i, field := range c.want {
				c.want[i] = field + ": is empty: give it a value, or leave it out"
			}
			Same(t, got, c.want, path)
		}
	})
}

// TestAnAnswerThereIsNotIsRefused asks for knowledge in the forms of the log's events.
func TestAnAnswerThereIsNotIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		for _, path := range []string{"/v1/overview", "/v1/knowledge/a", "/v1/knowledge/a/history", "/v1/projections", "/v1/whoami"} {
			for _, form := range []Header{"Accept: text/csv", "Accept: application/x-ndjson", "Accept: text/event-stream, image/png"} {
				refused := w.Ask("GET", path, nil, form).Want(http.StatusNotAcceptable).JSON()
				Like(t, refused, Object{"fix": "accept one of application/json"}, path, form)
			}
			w.Ask("GET", path, nil, "Accept: text/html, */*;q=0.8").Want(http.StatusOK)
			w.Ask("GET", path, nil, "Accept: application/*").Want(http.StatusOK)
		}
		w.Ask("POST", "/v1/knowledge", Item("b", "y"), "Accept: text/csv").Want(http.StatusCreated) // what was written is told in any case
	})
}
