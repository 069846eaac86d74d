package http_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

const rebuildPath = "/v1/projections/knowledge/rebuild"

// eachRebuilder is each, with a server that rebuilds.
func eachRebuilder(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) { test(t, newRebuilder(t, db)) })
}

// newRebuilder is newWorld with a server that rebuilds.
func newRebuilder(t *testing.T, db *database.DB) *world {
	t.Helper()
	return newWorld(t, db, events.Options{}, func(cfg *servertest.Config) { rebuilds(t, cfg) })
}

// rebuilds lets a server rebuild projections.
func rebuilds(t *testing.T, cfg *servertest.Config) {
	base := cfg.Reader.(projections.Reader)
	rebuilder := rebuild.New(base.Knowledge.Versions, base.Knowledge.Models, base.Log, base.Followers)
	t.Cleanup(rebuilder.Close)
	cfg.Rebuilder = rebuild.Rebuilds{Rebuilder: rebuilder}
}

// rebuilt waits until a rebuild has ended.
func (w *world) rebuilt() object {
	w.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		last := w.ask("GET", rebuildPath, nil).want(http.StatusOK).json()
		if last["progress"] == nil {
			return last
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the rebuild does not end: %v", last)
		}
	}
}

// versions are those of the knowledge projection, with their states.
func (w *world) versions() []string {
	w.t.Helper()
	var all []string
	for _, item := range w.ask("GET", "/v1/projections", nil).want(http.StatusOK).items() {
		if item["name"] == "knowledge" {
			all = append(all, fmt.Sprint(item["version"], " ", item["state"]))
		}
	}
	return all
}

func TestARebuildIsStartedSeenRolledBackAndRetired(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		w.ask("GET", rebuildPath, nil).want(http.StatusNotFound)
		w.ask("DELETE", rebuildPath, nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/projections/knowledge/rollback", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/projections/knowledge/retire", nil).want(http.StatusNotFound)
		w.remember("one", "a fact")
		w.remember("two", "another fact")

		plan := w.ask("GET", rebuildPath+"/plan", nil).want(http.StatusOK).json()
		if plan["streams"] != 2.0 || plan["events"] != 2.0 || plan["version"] != 2.0 || plan["bytes"].(float64) <= 0 {
			t.Errorf("the plan is %v", plan)
		}
		started := w.ask("POST", rebuildPath, nil).want(http.StatusAccepted)
		same(t, started.header.Get("Location"), rebuildPath)
		like(t, started.json(), object{"version": 2.0})
		last := w.rebuilt()
		like(t, last, object{"state": "active", "report": object{"passed": true, "items": 2.0, "differing": 0.0}})
		same(t, w.versions(), []string{"2 active", "1 standby"})
		w.remember("three", "written to both")
		back := w.ask("POST", "/v1/projections/knowledge/rollback", nil).want(http.StatusOK).items()
		like(t, back, []any{object{"version": 1.0, "state": "active"}, object{}}, "rolled back to")
		w.ask("GET", "/v1/knowledge/three", nil).want(http.StatusOK)
		w.ask("POST", "/v1/projections/knowledge/retire", nil).want(http.StatusOK)
		same(t, w.versions(), []string{"1 active", "2 retired"})
		w.ask("DELETE", rebuildPath, nil).want(http.StatusNotFound)
	})
}

func TestOneRebuildRunsAtATimeAndCanBeCancelled(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		var lines []object
		for i := range 4000 {
			lines = append(lines, item(fmt.Sprint("item-", i), fmt.Sprintf("fact %d among many", i)))
		}
		w.ask("POST", "/v1/knowledge", lines).want(http.StatusOK)
		w.ask("POST", rebuildPath, nil).want(http.StatusAccepted)
		refused := w.ask("POST", rebuildPath, nil).want(http.StatusConflict).json()
		like(t, refused, object{"fix": some{}})
		ended := w.ask("DELETE", rebuildPath, nil).want(http.StatusOK).json()
		like(t, ended, object{"state": "retired", "error": "cancelled", "active": 1.0})
		w.ask("DELETE", rebuildPath, nil).want(http.StatusNotFound)
		w.ask("POST", rebuildPath, nil).want(http.StatusAccepted)
		like(t, w.rebuilt(), object{"state": "active", "version": 3.0})
	})
}

func TestOnlyProjectionsThatThereAreAreRebuilt(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		for name, status := range map[string]int{"nonsense": http.StatusNotFound, "meaning": http.StatusConflict, "past": http.StatusConflict} {
			at := "/v1/projections/" + name
			w.ask("POST", at+"/rebuild", nil).want(status)
			w.ask("GET", at+"/rebuild", nil).want(status)
			w.ask("GET", at+"/rebuild/plan", nil).want(status)
			w.ask("DELETE", at+"/rebuild", nil).want(status)
			w.ask("POST", at+"/rollback", nil).want(status)
		}
		past := w.ask("POST", "/v1/projections/past/rebuild", nil).want(http.StatusConflict).json()
		like(t, past, object{"fix": containing("annals replay past")})
		w.ask("POST", "/v1/projections/nonsense/retire", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/projections/meaning/retire", nil).want(http.StatusNotFound) // nothing is kept of a model before
		w.ask("POST", rebuildPath+"?force=true", nil).want(http.StatusUnprocessableEntity)
	})
}

func TestAWhatIfIsAnsweredAndThrownAway(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		w.remember("one", "a fact")
		w.ask("POST", "/v1/knowledge/one/feedback", object{"verdict": "helpful", "trace_id": "t"}).want(http.StatusOK)
		w.ask("POST", rebuildPath+"?confidence=nonsense", nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", rebuildPath+"/plan?confidence=nonsense", nil).want(http.StatusUnprocessableEntity)
		w.ask("POST", rebuildPath+"?what_if=perhaps", nil).want(http.StatusUnprocessableEntity)
		plan := w.ask("GET", rebuildPath+"/plan?confidence=wilson/1", nil).want(http.StatusOK).json()
		same(t, fmt.Sprint(plan["intended"]), "[confidence expired_confidence]", "the plan intends")
		started := w.ask("POST", rebuildPath+"?what_if=true&confidence=wilson/1", nil).want(http.StatusAccepted).json()
		like(t, started, object{"what_if": true})
		last := w.rebuilt()
		if last["state"] != "retired" || last["what_if"] != true || last["active"] != 1.0 ||
			pick(last, "report", "differing") != 1.0 || pick(last, "report", "unintended") != 0.0 {
			t.Errorf("got %v", last)
		}
		like(t, pick(last, "report", "differences"), []any{object{
			"tenant": "default", "id": "one", "before": object{"confidence": 0.75}, "after": object{"confidence": some{}},
		}})
		like(t, w.ask("GET", "/v1/knowledge/one", nil).want(http.StatusOK).json(),
			object{"eval": object{"confidence": 0.75}}, "the item has become")
	})
}
