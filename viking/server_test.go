package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAnIDLeadsToNothingElse(t *testing.T) {
	each(t, open, func(_ *testing.T, w *world) {
		w.ask("POST", "/api/v1/skills", object{"data": object{"name": "deploy", "description": "Deploys", "content": "Build first"}}).object()
		w.ask("DELETE", "/api/v1/sessions/..%2Fskills%2Fdeploy", nil).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		for _, path := range []string{"/api/v1/sessions/../skills/deploy", "/api/v1/sessions/%2E%2E/skills/deploy", "/api/v1//skills/deploy", "/api/v1/skills/./deploy", "/api/v1/skills/deploy/"} {
			w.ask("DELETE", path, nil).refused(http.StatusNotFound, "NOT_FOUND")
		}
		w.ask("GET", "/api/v1/skills/deploy", nil).object()
	})
}

func TestABodyThatIsTooLargeIsRefusedAsSuch(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, route := range [][2]string{{"POST", "/api/v1/search/find"}, {"POST", "/api/v1/skills"}, {"POST", "/api/v1/content/write"}} {
			got := w.ask(route[0], route[1], object{"query": strings.Repeat("x", 8<<20)})
			if message := got.refused(http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT"); message != "a body may have at most 8388608 bytes here" {
				t.Errorf("%s: %s", route[1], message)
			}
		}
	})
}
