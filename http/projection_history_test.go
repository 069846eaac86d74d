package http_test

import (
	"net/http"
	"testing"
)

func TestTheRecordOfAProjectionIsInTheServersOwnLog(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		const at, own = "/v1/events?stream=projection:knowledge", header("Annals-Tenant: _system")
		w.remember("one", "a fact")
		w.ask("POST", rebuildPath, nil, "Annals-Actor: user:olga", "X-Request-Id: request-1").want(http.StatusAccepted)
		w.rebuilt()
		w.ask("POST", "/v1/projections/knowledge/rollback", nil).want(http.StatusOK)

		var names []string
		for _, item := range w.ask("GET", at, nil, own).want(http.StatusOK).items() {
			names = append(names, item["name"].(string))
			if item["name"] == "projection.started" && (item["actor"] != "user:olga" || item["request_id"] != "request-1") {
				t.Errorf("got %v, want who asked", item)
			}
		}
		want := []string{
			"projection.started", "projection.loaded", "projection.caught_up", "projection.verified", "projection.switched", "projection.rolled_back",
		}
		same(t, names, want)
		for _, item := range w.ask("GET", "/v1/events", nil).want(http.StatusOK).items() {
			if item["stream"] == "projection:knowledge" {
				t.Errorf("%v is in the tenant's own log", item)
			}
		}
		// The server's own log is for root, and read only.
		w.ask("GET", at, nil, own, "Annals-On-Behalf-Of: user:bob").want(http.StatusUnprocessableEntity)
		w.ask("POST", "/v1/knowledge", item("two", "a fact"), own).want(http.StatusUnprocessableEntity)
	})
}
