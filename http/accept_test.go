package http_test

import (
	"net/http"
	"testing"
)

// TestAnAnswerThereIsNotIsRefused asks for knowledge in the forms of the log's events.
func TestAnAnswerThereIsNotIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		for _, path := range []string{"/v1/overview", "/v1/knowledge/a", "/v1/knowledge/a/history", "/v1/projections", "/v1/whoami"} {
			for _, form := range []header{"Accept: text/csv", "Accept: application/x-ndjson", "Accept: text/event-stream, image/png"} {
				refused := w.ask("GET", path, nil, form).want(http.StatusNotAcceptable).json()
				like(t, refused, object{"fix": "accept one of application/json"}, path, form)
			}
			w.ask("GET", path, nil, "Accept: text/html, */*;q=0.8").want(http.StatusOK)
			w.ask("GET", path, nil, "Accept: application/*").want(http.StatusOK)
		}
		w.ask("POST", "/v1/knowledge", item("b", "y"), "Accept: text/csv").want(http.StatusCreated) // what was written is told in any case
	})
}
