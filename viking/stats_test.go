package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestMemoriesAreCounted(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for range 3 {
			w.remember(object{"content": "x", "category": "tools"})
		}
		id := w.remember(object{"content": "喜欢深色", "category": "preferences"})
		for _, trace := range []string{"a", "b", "c", "d", "e"} {
			w.ask("POST", "/v1/knowledge/"+id+"/feedback", object{"verdict": "helpful", "trace_id": trace}).want(http.StatusOK)
		}
		w.remember(object{"content": "x", "context_type": "resource"})
		stats := w.ask("GET", "/api/v1/stats/memories", nil).object()
		hotness := stats["hotness_distribution"].(object)
		if stats["total_memories"] != 4.0 || stats["by_category"].(object)["tools"] != 3.0 || stats["by_category"].(object)["cases"] != 0.0 ||
			hotness["hot"] != 1.0 || hotness["warm"] != 3.0 || hotness["cold"] != 0.0 || stats["staleness"].(object)["not_accessed_7d"] != 0.0 {
			t.Errorf("counted %v", stats)
		}
		if got := w.ask("GET", "/api/v1/stats/memories?category=preferences", nil).object(); got["total_memories"] != 1.0 {
			t.Errorf("counted %v", got)
		}
		w.ask("GET", "/api/v1/stats/memories?category=novels", nil).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
	})
}

func TestComponentsAreObserved(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, name := range []string{"queue", "vikingdb", "vlm", "models", "transaction", "lock", "retrieval", "filesystem"} {
			got := w.ask("GET", "/api/v1/observer/"+name, nil).object()
			if status, _ := got["status"].(string); got["name"] != name || got["is_healthy"] != true || got["has_errors"] != false || status == "" {
				t.Errorf("%s: %v", name, got)
			}
		}
		if got := w.ask("GET", "/api/v1/observer/queue", nil).object()["status"].(string); !strings.Contains(got, "knowledge") {
			t.Errorf("the queue is\n%s", got)
		}
		if got := w.ask("GET", "/api/v1/observer/system", nil).object(); got["is_healthy"] != true || len(got["errors"].([]any)) != 0 || got["components"].(object)["queue"] == nil {
			t.Errorf("the system is %v", got)
		}
		w.ask("GET", "/api/v1/observer/nothing", nil).refused(http.StatusNotFound, "NOT_FOUND")
	})
}
