package serve

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// warnings are the last lines of a server's log that are warnings and errors. Nil has none.
type warnings struct {
	mu    sync.Mutex
	lines []string
}

// beside is a logger that also writes its warnings and errors here.
func (w *warnings) beside(logger *slog.Logger) *slog.Logger {
	here := slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})
	return slog.New(slog.NewMultiHandler(logger.Handler(), here))
}

func (w *warnings) Write(line []byte) (int, error) {
	const most, longest = 1000, 1000
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := line
	if len(line) > longest {
		kept = append(slices.Clone(line[:longest]), "…\n"...)
	}
	w.lines = append(w.lines[max(0, len(w.lines)+1-most):], string(kept))
	return len(line), nil
}

func (w *warnings) text() string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "")
}
