package events

import "sync"

// notifier notifies watchers that logs have grown.
type notifier struct {
	mu       sync.Mutex
	changed  chan struct{}
	watchers map[*watcher]struct{}
}

// watcher collects the tenants whose logs have grown since it last looked.
type watcher struct {
	only    string // the one tenant it is interested in; empty for all
	tenants map[string]struct{}
	wake    chan struct{} // holds one: there is something to collect
}

func newNotifier() *notifier {
	return &notifier{changed: make(chan struct{}), watchers: map[*watcher]struct{}{}}
}

func (n *notifier) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// notify announces that the tenant's log has grown.
func (n *notifier) notify(tenant string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.changed)
	n.changed = make(chan struct{})
	for w := range n.watchers {
		if w.only != "" && w.only != tenant {
			continue
		}
		w.tenants[tenant] = struct{}{}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// watch begins to collect what becomes of one tenant's log, or of all; call leave when done.
func (n *notifier) watch(only string) (w *watcher, leave func()) {
	w = &watcher{only: only, tenants: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watchers[w] = struct{}{}
	return w, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.watchers, w)
	}
}

// collect returns the tenants of w and begins anew.
func (n *notifier) collect(w *watcher) map[string]struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	tenants := w.tenants
	w.tenants = map[string]struct{}{}
	return tenants
}
