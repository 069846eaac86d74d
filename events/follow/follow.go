package follow

import (
	"sync"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
)

// Followers are the subscriptions of a log in this process, with their checkpoints, leases and quarantine. They are
// safe
// for concurrent use. Before the caller closes the log, it closes routers and subscribers.
type Followers struct {
	log     *events.Log
	db      *database.DB
	options events.Options

	handlers   handlers
	lastErrors lastErrors
	moved      moved
	finishing  sync.RWMutex // shared from a page's transaction until its Change is done
}

// NewLog makes a log on a migrated database, and its followers. inline is written with every append.
func NewLog(db *database.DB, inline events.Inline, options events.Options) (*events.Log, *Followers) {
	log := events.NewLog(db, inline, options)
	return log, &Followers{
		log: log, db: db, options: log.Options(),
		lastErrors: lastErrors{reasons: map[reading]error{}}, moved: moved{next: make(chan struct{})},
	}
}

// moved notifies waiters of checkpoints that this process moved.
type moved struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next move
}

func (m *moved) wait() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next
}

func (m *moved) notify() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.next)
	m.next = make(chan struct{})
}
