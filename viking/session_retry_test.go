package viking_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/extraction"
)

// stubborn is an extractor that fails until it is mended.
type stubborn struct{ mended atomic.Bool }

func (*stubborn) Name() string { return "stubborn" }

func (s *stubborn) Extract(ctx context.Context, c extraction.Conversation) (extraction.Result, error) {
	if !s.mended.Load() {
		return extraction.Result{}, errors.New("the key opens nothing")
	}
	return extraction.BuiltIn{}.Extract(ctx, c)
}

func TestFailedArchivesAreTriedAgainOnRequest(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		extractor := &stubborn{}
		w.learningBy(extractor)
		one := sessionsPath + "/s1"
		w.ask("POST", one+"/messages", `{"role":"user","content":"I prefer tabs for indentation."}`).object()
		committed := w.ask("POST", one+"/commit?wait=true", nil).object()
		task := "/api/v1/tasks/" + committed["task_id"].(string)
		if shown := w.ask("GET", task, nil).object(); shown["status"] != "failed" || shown["error"] != "the key opens nothing" {
			t.Errorf("task %v", shown)
		}
		retry := func() []any { return w.ask("POST", one+"/retry", `{"wait":true}`).object()["retried"].([]any) }
		if tried := retry(); len(tried) != 1 || tried[0].(object)["status"] != "failed" {
			t.Errorf("retried %v", tried)
		}
		extractor.mended.Store(true)
		tried := retry()
		if len(tried) != 1 || tried[0].(object)["status"] != "completed" || tried[0].(object)["retry"] != 2.0 ||
			tried[0].(object)["task_id"] != committed["task_id"] || tried[0].(object)["archive_uri"] != committed["archive_uri"] {
			t.Errorf("retried %v", tried)
		}
		if shown := w.ask("GET", task, nil).object(); shown["status"] != "completed" || shown["result"].(object)["memories_extracted"].(object)["total"] != 1.0 {
			t.Errorf("task %v", shown)
		}
		if tried := retry(); len(tried) != 0 {
			t.Errorf("retried %v", tried)
		}
		if stats := w.ask("GET", one+"/context", nil).object()["stats"].(object); stats["failedArchives"] != 0.0 {
			t.Errorf("stats %v", stats)
		}
		w.ask("POST", one+"/retry", `{"archive":-1}`).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		w.ask("POST", sessionsPath+"/nowhere/retry", nil).refused(http.StatusNotFound, "NOT_FOUND")
	})
}
