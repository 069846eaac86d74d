package serve

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// warnings are the last lines of a server's log that are warnings and errors.
type warnings struct {
	reading sync.Mutex
	lines   []string
}

// beside is a logger that also writes its warnings and errors here.
func (w *warnings) beside(logger *slog.Logger) *slog.Logger {
	here := slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})
	return slog.New(slog.NewMultiHandler(logger.Handler(), here))
}

func (w *warnings) Write(line []byte) (int, error) {
	const most = 200
	w.reading.Lock()
	defer w.reading.Unlock()
	w.lines = append(w.lines, string(line))
	if over := len(w.lines) - most; over > 0 {
		w.lines = slices.Delete(w.lines, 0, over)
	}
	return len(line), nil
}

func (w *warnings) text() string {
	w.reading.Lock()
	defer w.reading.Unlock()
	return strings.Join(w.lines, "")
}
