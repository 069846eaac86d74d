package events

import "sync"

// notifier notifies watchers that logs have grown.
type notifier struct {
	mu       sync.Mutex
	watchers map[*Watcher]struct{}
}

// Watcher collects the tenants whose logs have grown since the last Collect.
type Watcher struct {
	Wake     chan struct{} // holds one token: there is something to collect
	notifier *notifier
	only     string // the one tenant to watch; empty for all
	tenants  map[string]struct{}
}

func newNotifier() *notifier {
	return &notifier{watchers: map[*Watcher]struct{}{}}
}

// watch adds a watcher of one name, or of all. Call leave when done.
func (n *notifier) watch(only string) (w *Watcher, leave func()) {
	w = &Watcher{Wake: make(chan struct{}, 1), notifier: n, only: only, tenants: map[string]struct{}{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watchers[w] = struct{}{}
	return w, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.watchers, w)
	}
}

// notify announces that the tenant's log has grown.
func (n *notifier) notify(tenant string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.watchers {
		if w.only != "" && w.only != tenant {
			continue
		}
		w.tenants[tenant] = struct{}{}
		select {
		case w.Wake <- struct{}{}:
		default:
		}
	}
}

// Collect returns the tenants, and forgets them.
func (w *Watcher) Collect() map[string]struct{} {
	w.notifier.mu.Lock()
	defer w.notifier.mu.Unlock()
	tenants := w.tenants
	w.tenants = map[string]struct{}{}
	return tenants
}
