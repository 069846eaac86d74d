package http

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
)

// answered is what a server with one more route answers and logs.
func answered(t *testing.T, path string, handler echo.HandlerFunc) (answer *httptest.ResponseRecorder, log string) {
	t.Helper()
	var lines bytes.Buffer
	s := New(Config{Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	s.echo.GET("/test/:id", handler)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil))
	return w, lines.String()
}

func TestAPanicIsAnsweredWithoutDetailsAndLoggedOnce(t *testing.T) {
	t.Parallel()
	got, log := answered(t, "/test/secret", func(echo.Context) error { panic("hunter2") })
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "hunter2") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if strings.Count(log, "hunter2") != 1 || !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "middleware_test.go") {
		t.Errorf("the log says %s", log)
	}
}

func TestHalfAnAnswerCutsTheConnection(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause := recover(); cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
			t.Errorf("it ends with %v", cause)
		}
	}()
	answered(t, "/test/1", func(e echo.Context) error {
		_ = e.String(http.StatusOK, "half an ans")
		panic("no more")
	})
}

func TestTheLogNamesTheRouteAndNotThePath(t *testing.T) {
	t.Parallel()
	_, log := answered(t, "/test/secret?q=secret", func(e echo.Context) error { return e.NoContent(http.StatusNoContent) })
	for _, wanted := range []string{"level=INFO", "msg=answered", "method=GET", "route=/test/:id", "status=204", "request_id="} {
		if !strings.Contains(log, wanted) {
			t.Errorf("the log lacks %s: %s", wanted, log)
		}
	}
	if strings.Contains(log, "secret") || strings.Count(log, "\n") != 1 {
		t.Errorf("the log says %s", log)
	}
}

func TestABusyAnswerIsNoErrorOfTheServer(t *testing.T) {
	t.Parallel()
	got, log := answered(t, "/test/1", func(echo.Context) error { return domain.Refuse(domain.ErrBusy, "two exports run already") })
	if got.Code != http.StatusServiceUnavailable || !strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("%d, and the log says %s", got.Code, log)
	}
}
