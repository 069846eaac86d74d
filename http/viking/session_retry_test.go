package viking_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/projections/extraction"
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
		like(t, w.ask("GET", task, nil).object(), object{"status": "failed", "error": "the key opens nothing"})
		retry := func() []any { return w.ask("POST", one+"/retry", `{"wait":true}`).object()["retried"].([]any) }
		like(t, retry(), []any{object{"status": "failed"}})
		extractor.mended.Store(true)
		tried := retry()
		like(t, tried,
			[]any{object{
				"status": "completed", "retry": 2.0,
				"task_id": committed["task_id"], "archive_uri": committed["archive_uri"],
			}})
		like(t, w.ask("GET", task, nil).object(),
			object{"status": "completed", "result": object{"memories_extracted": object{"total": 1.0}}})
		same(t, len(retry()), 0)
		like(t, w.ask("GET", one+"/context", nil).object()["stats"].(object), object{"failedArchives": 0.0})
		w.ask("POST", one+"/retry", `{"archive":-1}`).invalid()
		w.ask("POST", sessionsPath+"/nowhere/retry", nil).missing()
	})
}
