package viking_test

import (
	"net/http"
	"testing"
)

// What was committed before somebody waits is knowledge after.
func TestWhoHasWaitedFindsWhatWasLearned(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.ask("POST", sessions+"/s/messages", object{"role": "user", "content": "I prefer tabs to spaces in Go code."}).object()
		w.ask("POST", sessions+"/s/commit", object{}).object()
		w.ask("POST", "/api/v1/system/wait", object{"timeout": 0.2}).refused(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED") // nobody learns yet
		w.embedding()
		w.learning()
		waited := w.ask("POST", "/api/v1/system/wait", object{"timeout": 20}).object()
		if learned, told := waited["Semantic"].(object)["processed"].(float64); !told || learned < 0 { // 0 if it was done by then
			t.Errorf("waited for %v", waited)
		}
		found := w.ask("POST", "/api/v1/search/find", object{"query": "tabs or spaces", "target_uri": "viking://user/memories"}).object()
		if len(found["memories"].([]any)) != 1 {
			t.Errorf("found %v", found)
		}
	})
}
