package events

import (
	"slices"
	"sync"
)

// handlers are what follows the log in this process, by projection.
type handlers struct {
	mu         sync.Mutex
	prepares   map[string]Preparer
	wholePages []string
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

func (h *handlers) addWholePages(projection string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wholePages = append(h.wholePages, projection)
}

func (h *handlers) wantsWholePages(projection string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.wholePages, projection)
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
