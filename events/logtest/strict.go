package logtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
)

// strict makes a warning of the world's log an error of the test: a log that gives a position out twice
// corrects itself, and only says so.
func (w *world) strict() {
	w.Helper()
	logger := slog.New(strictHandler{databasetest.Log(w).Handler(), w})
	w.log = w.newLog(w.open(w.T, w.db), events.Options{Logger: logger})
}

type strictHandler struct {
	slog.Handler
	t testing.TB
}

func (h strictHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.t.Errorf("the log warns: %s", r.Message)
	}
	return h.Handler.Handle(ctx, r)
}
