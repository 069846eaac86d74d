package viking_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/viking"
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
		like(t, w.ask("GET", "/api/v1/stats/memories?category=preferences", nil).object(), object{"total_memories": 1.0})
		w.ask("GET", "/api/v1/stats/memories?category=novels", nil).invalid()
	})
}

// troubled is a reader whose models are away, and whose log nothing has read.
type troubled struct{ viking.Reader }

func (troubled) Status(context.Context, string) ([]domain.ProjectionStatus, error) {
	return []domain.ProjectionStatus{
		{Name: "knowledge", State: "active", Position: 9, Settings: map[string]string{}},
		{Name: "knowledge", State: "failed", Error: "given up"},
		{Name: "meaning", State: "active", Position: 5, LagEvents: 4, LagSeconds: 2.5, Settings: map[string]string{"space": "far:model:8"}, Error: "no connection"},
		{Name: domain.Extraction, State: "active", LagEvents: 9, Settings: map[string]string{"extractor": "model far"}},
	}, nil
}

func TestWhatIsInTroubleIsObserved(t *testing.T) {
	set := func(cfg *viking.Config) { cfg.Reader = troubled{cfg.Reader} }
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", "/api/v1/sessions/s/messages", object{"role": "user", "content": "I prefer tabs."}).want(http.StatusOK)
		w.ask("POST", "/api/v1/sessions/s/commit", object{}).want(http.StatusOK) // nobody learns from it
		for name, healthy := range map[string]bool{"queue": false, "vikingdb": false, "models": false, "vlm": false, "retrieval": false, "lock": true, "filesystem": true} {
			got := w.ask("GET", "/api/v1/observer/"+name, nil).object()
			if status := got["status"].(string); got["is_healthy"] != healthy || got["has_errors"] == healthy || strings.Contains(status, "no connection") == healthy {
				t.Errorf("%s: %v", name, got)
			}
		}
		models := w.ask("GET", "/api/v1/observer/models", nil).object()["status"].(string)
		if !strings.Contains(models, "far:model:8") || !strings.Contains(models, "model far") || strings.Contains(models, "knowledge") {
			t.Errorf("the models are\n%s", models)
		}
		queue := w.ask("GET", "/api/v1/observer/queue", nil).object()["status"].(string)
		like(t, queue, containing("tasks: 1 pending, 0 running, 0 failed, of the newest 1"), "the queue is")
		like(t, queue, containing("      4      2.5"), "the queue is")
		like(t, w.ask("GET", "/api/v1/observer/system", nil).object(),
			object{"is_healthy": false, "errors": count(1)}, "the system is")
	}, set)
}
