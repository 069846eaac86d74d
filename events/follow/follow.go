package follow

import (
	"sync"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
)

// Log is a log with its subscriptions in this process. It is safe for concurrent use. Before Close, the caller closes
// routers and subscribers.
type Log struct {
	*events.Log
	store

	handlers   handlers
	lastErrors lastErrors
	moved      moved
	finishing  sync.RWMutex // shared from a page's transaction until its Change is done
}

// store reads and writes the tables of followers: checkpoints, leases and quarantine.
type store struct {
	db      *database.DB
	options events.Options
}

// NewLog makes a log on a migrated database. inline is written with every append.
func NewLog(db *database.DB, inline events.Inline, options events.Options) *Log {
	l := events.NewLog(db, inline, options)
	return &Log{
		Log: l, store: store{db, l.Options()},
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
