package http_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestTheHistoryOfAProjectionIsForAdmins(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		at := "/v1/projections/knowledge/history"
		same(t, len(w.ask("GET", at, nil).want(http.StatusOK).items()), 0)
		w.ask("GET", "/v1/projections/nonsense/history", nil).want(http.StatusNotFound)
		w.ask("GET", at+"?limit=0", nil).want(http.StatusUnprocessableEntity)
		w.remember("one", "a fact")
		w.ask("POST", rebuildPath, nil, "Annals-Actor: user:olga", "X-Request-Id: request-1").want(http.StatusAccepted)
		w.rebuilt()
		w.ask("POST", "/v1/projections/knowledge/rollback", nil).want(http.StatusOK)

		var names []string
		for cursor := ""; ; {
			page := w.ask("GET", at+"?limit=4"+cursor, nil).want(http.StatusOK)
			for _, item := range page.items() {
				names = append(names, item["name"].(string))
				if item["name"] == "projection.started" && (item["actor"] != "user:olga" || item["request_id"] != "request-1") {
					t.Errorf("got %v, want who asked", item)
				}
			}
			next, more := page.json()["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		slices.Reverse(names)
		want := []string{
			"projection.started", "projection.loaded", "projection.caught_up", "projection.verified", "projection.switched", "projection.rolled_back",
		}
		same(t, names, want)
		for _, item := range w.ask("GET", "/v1/events", nil).want(http.StatusOK).items() {
			if item["stream"] == "projection:knowledge" {
				t.Errorf("%v is in the tenant's own log", item)
			}
		}
	})
}
