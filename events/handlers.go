package events

import (
	"slices"
	"sync"
)

// handlers are what follows the log in this process, by projection.
type handlers struct {
	mu        sync.Mutex
	prepares  map[string]Preparer
	undivided []string
}

func (h *handlers) add(projection string, prepare Preparer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.prepares == nil {
		h.prepares = map[string]Preparer{}
	}
	h.prepares[projection] = prepare
}

func (h *handlers) of(projection string) (prepare Preparer, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	prepare, found = h.prepares[projection]
	return prepare, found
}

func (h *handlers) keepUndivided(projection string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undivided = append(h.undivided, projection)
}

func (h *handlers) isUndivided(projection string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.undivided, projection)
}

// Followers lists the projections that follow the log in this process, in order.
func (l *Log) Followers() []string {
	l.handlers.mu.Lock()
	defer l.handlers.mu.Unlock()
	var names []string
	for name := range l.handlers.prepares {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
