package mcp_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

// What became of a version that nobody reads is no trouble of the memory's.
func TestTheStatusTellsTheTroubleOfWhatIsReadOrBuilt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		catalogue := func(statement string) { servertest.Execute(t, w.db, statement) }
		defer catalogue("DELETE FROM projections WHERE version = 9")
		catalogue(`INSERT INTO projections (name, version, state, settings, created_at, updated_at)
			SELECT name, 9, 'failed', '{"error": "the disk is full"}', created_at, updated_at FROM projections WHERE name = 'knowledge' AND state = 'active'`)

		calm := w.call("memory_status", nil)
		like(t, calm.ok(), object{"healthy": true}, "a version that was given up")
		like(t, calm.text, lacking("disk is full"), "a version that was given up")
		states := map[float64]any{}
		for _, p := range calm.ok()["projections"].([]any) {
			if p := p.(object); p["name"] == "knowledge" {
				states[p["version"].(float64)] = p["state"]
			}
		}
		if len(states) != 2 || states[9] != "failed" {
			t.Errorf("the versions of knowledge: %v", states)
		}
		catalogue("UPDATE projections SET state = 'building' WHERE version = 9")
		if troubled := w.call("memory_status", nil); troubled.ok()["healthy"] != false || !strings.Contains(troubled.text, "knowledge, version 9 (building), is 1 event behind: the disk is full.") {
			t.Errorf("a version that is being built: %s, %v", troubled.text, troubled.ok())
		}
	})
}
