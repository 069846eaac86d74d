package logtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
)

// strict turns a warning of the world's log into an error of the test. A log that assigns a position twice corrects
// itself and only logs a warning.
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
