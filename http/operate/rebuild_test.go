package operate_test

import (
	"fmt"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rebuildPath = "/v1/projections/knowledge/rebuild"

// versions are those of the knowledge projection, with their states.
func versions(w *World) []string {
	w.T.Helper()
	var all []string
	for _, item := range w.Ask("GET", "/v1/projections", nil).Want(http.StatusOK).Items() {
		if item["name"] == "knowledge" {
			all = append(all, fmt.Sprint(item["version"], " ", item["state"]))
		}
	}
	return all
}

func TestARebuildIsStartedSeenRolledBackAndRetired(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		w.Ask("GET", rebuildPath, nil).Want(http.StatusNotFound)
		w.Ask("DELETE", rebuildPath, nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/projections/knowledge/rollback", nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/projections/knowledge/retire", nil).Want(http.StatusNotFound)
		w.Remember("one", "a fact")
		w.Remember("two", "another fact")

		plan := w.Ask("GET", rebuildPath+"/plan", nil).Want(http.StatusOK).JSON()
		if plan["streams"] != 2.0 || plan["events"] != 2.0 || plan["version"] != 2.0 || plan["bytes"].(float64) <= 0 {
			t.Errorf("the plan is %v", plan)
		}
		started := w.Ask("POST", rebuildPath, nil).Want(http.StatusAccepted)
		Same(t, started.Header.Get("Location"), rebuildPath)
		Like(t, started.JSON(), Object{"version": 2.0})
		last := w.Rebuilt()
		Like(t, last, Object{"state": "active", "report": Object{"passed": true, "items": 2.0, "differing": 0.0}})
		Same(t, versions(w), []string{"2 active", "1 standby"})
		w.Remember("three", "written to both")
		back := w.Ask("POST", "/v1/projections/knowledge/rollback", nil).Want(http.StatusOK).Items()
		Like(t, back, []any{Object{"version": 1.0, "state": "active"}, Object{}}, "rolled back to")
		w.Ask("GET", "/v1/knowledge/three", nil).Want(http.StatusOK)
		w.Ask("POST", "/v1/projections/knowledge/retire", nil).Want(http.StatusOK)
		Same(t, versions(w), []string{"1 active", "2 retired"})
		w.Ask("DELETE", rebuildPath, nil).Want(http.StatusNotFound)
	})
}

func TestOneRebuildRunsAtATimeAndCanBeCancelled(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		var lines []Object
		for i := range 4000 {
			lines = append(lines, Item(fmt.Sprint("item-", i), fmt.Sprintf("fact %d among many", i)))
		}
		w.Ask("POST", "/v1/knowledge", lines).Want(http.StatusOK)
		w.Ask("POST", rebuildPath, nil).Want(http.StatusAccepted)
		refused := w.Ask("POST", rebuildPath, nil).Want(http.StatusConflict).JSON()
		Like(t, refused, Object{"fix": Some{}})
		ended := w.Ask("DELETE", rebuildPath, nil).Want(http.StatusOK).JSON()
		Like(t, ended, Object{"state": "retired", "error": "cancelled", "active": 1.0})
		w.Ask("DELETE", rebuildPath, nil).Want(http.StatusNotFound)
		Like(t, w.Rebuild(""), Object{"state": "active", "version": 3.0})
	})
}

func TestOnlyProjectionsThatThereAreAreRebuilt(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		for name, status := range map[string]int{"nonsense": http.StatusNotFound, "meaning": http.StatusConflict, "past": http.StatusConflict} {
			at := "/v1/projections/" + name
			w.Ask("POST", at+"/rebuild", nil).Want(status)
			w.Ask("GET", at+"/rebuild", nil).Want(status)
			w.Ask("GET", at+"/rebuild/plan", nil).Want(status)
			w.Ask("DELETE", at+"/rebuild", nil).Want(status)
			w.Ask("POST", at+"/rollback", nil).Want(status)
		}
		past := w.Ask("POST", "/v1/projections/past/rebuild", nil).Want(http.StatusConflict).JSON()
		Like(t, past, Object{"fix": Containing("annals replay past")})
		w.Ask("POST", "/v1/projections/nonsense/retire", nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/projections/meaning/retire", nil).Want(http.StatusNotFound) // nothing is kept of a model before
		w.Ask("POST", rebuildPath+"?force=true", nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestAWhatIfIsAnsweredAndThrownAway(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		w.Remember("one", "a fact")
		w.Ask("POST", "/v1/knowledge/one/feedback", Object{"verdict": "helpful", "trace_id": "t"}).Want(http.StatusOK)
		w.Ask("POST", rebuildPath+"?confidence=nonsense", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", rebuildPath+"/plan?confidence=nonsense", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", rebuildPath+"?what_if=perhaps", nil).Want(http.StatusUnprocessableEntity)
		plan := w.Ask("GET", rebuildPath+"/plan?confidence=wilson/1", nil).Want(http.StatusOK).JSON()
		Same(t, fmt.Sprint(plan["intended"]), "[confidence expired_confidence]", "the plan intends")
		started := w.Ask("POST", rebuildPath+"?what_if=true&confidence=wilson/1", nil).Want(http.StatusAccepted).JSON()
		Like(t, started, Object{"what_if": true})
		last := w.Rebuilt()
		if last["state"] != "retired" || last["what_if"] != true || last["active"] != 1.0 ||
			Pick(last, "report", "differing") != 1.0 || Pick(last, "report", "unintended") != 0.0 {
			t.Errorf("got %v", last)
		}
		Like(t, Pick(last, "report", "differences"), []any{Object{
			"tenant": "default", "id": "one", "before": Object{"confidence": 0.75}, "after": Object{"confidence": Some{}},
		}})
		Like(t, w.Ask("GET", "/v1/knowledge/one", nil).Want(http.StatusOK).JSON(),
			Object{"eval": Object{"confidence": 0.75}}, "the item has become")
	})
}

func TestOnlyRootStartsARebuild(t *testing.T) {
	EachWith(t, Rooted, func(_ *testing.T, w *World) {
		for _, role := range []string{"member", "service", "auditor", "admin"} {
			key := w.Given(RootKey, Object{"subject": "user:mia", "role": role})
			w.Ask("POST", rebuildPath, nil, Bearer(key)).Want(http.StatusForbidden)
		}
		w.Ask("POST", rebuildPath, nil, Bearer(RootKey)).Want(http.StatusNotFound) // this server rebuilds nothing
	})
}

func TestTheRecordOfAProjectionIsInTheServersOwnLog(t *testing.T) {
	EachWith(t, Rebuilding, func(t *testing.T, w *World) {
		const at, own = "/v1/events?stream=projection:knowledge", Header("Annals-Tenant: _system")
		w.Remember("one", "a fact")
		w.Rebuild("", "Annals-Actor: user:olga", "X-Request-Id: request-1")
		w.Ask("POST", "/v1/projections/knowledge/rollback", nil).Want(http.StatusOK)

		var names []string
		for _, item := range w.Ask("GET", at, nil, own).Want(http.StatusOK).Items() {
			names = append(names, item["name"].(string))
			if item["name"] == "projection.started" && (item["actor"] != "user:olga" || item["request_id"] != "request-1") {
				t.Errorf("got %v, want who asked", item)
			}
		}
		want := []string{
			"projection.started", "projection.loaded", "projection.caught_up", "projection.verified", "projection.switched", "projection.rolled_back",
		}
		Same(t, names, want)
		for _, item := range w.Ask("GET", "/v1/events", nil).Want(http.StatusOK).Items() {
			if item["stream"] == "projection:knowledge" {
				t.Errorf("%v is in the tenant's own log", item)
			}
		}
		// The server's own log is for root, and read only.
		w.Ask("GET", at, nil, own, "Annals-On-Behalf-Of: user:bob").Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/knowledge", Item("two", "a fact"), own).Want(http.StatusUnprocessableEntity)
	})
}
