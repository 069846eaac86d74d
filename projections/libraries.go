package projections

import (
	"context"
	"fmt"
	"sync"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// sketchBudget is how many bytes of sketches a process of SQLite keeps in memory.
const sketchBudget = 512 << 20

// libraries are what is kept in memory, by tenant. Beyond the budget those go that were not searched for
// the longest time, and are read again when they are; the one searched last stays, whatever its size. It
// is safe for concurrent use.
type libraries struct {
	budget  int
	vectors vectorCache // of the tenants whose sketches are here, and which hear of what is erased

	mu       sync.Mutex
	tenants  map[string]*lent
	bytes    int
	searches int64 // so far
}

// lent is a library with what it takes to let go of it in time.
type lent struct {
	library  *library
	bytes    int
	searched int64 // the number of the last search
}

func newLibraries(budget int) *libraries {
	return &libraries{budget: budget, tenants: map[string]*lent{}}
}

// load gives what is known of a tenant, and reads it if need be.
func (n *libraries) load(ctx context.Context, m *Meaning, tenant string) (*library, error) {
	l := n.search(tenant)
	read, err := l.library.load(ctx, m, tenant)
	if read {
		n.vectors.forgetAll(tenant)
		n.weigh(tenant, l)
	}
	return l.library, err
}

// readAhead reads tenants' sketches before they are searched for the first time: those of the longest logs, as long as half of the
// room is left.
func (n *libraries) readAhead(ctx context.Context, m *Meaning) error {
	var tenants []string
	err := m.db.NewSelect().TableExpr("checkpoints").Column("tenant").Where("projection = ?", m.Name()).
		OrderExpr("position DESC, tenant").Scan(database.ForEveryTenant(ctx), &tenants)
	if err != nil {
		return fmt.Errorf("look for sketches to read: %w", err)
	}
	for _, tenant := range tenants {
		if ctx.Err() != nil || n.held() > n.budget/2 {
			return nil
		}
		if _, err := n.load(database.ForTenant(ctx, tenant), m, tenant); err != nil {
			return fmt.Errorf("read sketches: %w", err)
		}
	}
	return nil
}

// held is how many bytes there are.
func (n *libraries) held() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// learn replaces the pieces of items, and forgets the vectors of those that went. It comes after their
// commit: whoever loads the tenant later reads them.
func (n *libraries) learn(e *embedded) {
	n.mu.Lock()
	l := n.tenants[e.tenant]
	n.mu.Unlock()
	if l == nil {
		return
	}
	n.forget(e.tenant, l.library, l.library.learn(e))
	n.weigh(e.tenant, l)
}

// forget drops vectors, or all that a tenant has if its sketches are to be read again.
func (n *libraries) forget(tenant string, l *library, gone []hash) {
	if !l.isLoaded() {
		n.vectors.forgetAll(tenant)
		return
	}
	n.vectors.forget(tenant, gone)
}

func (n *libraries) search(tenant string) *lent {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.tenants[tenant]
	if l == nil {
		l = &lent{library: &library{shelves: map[domain.Scope]*shelf{}}}
		n.tenants[tenant] = l
	}
	n.searches++
	l.searched = n.searches
	return l
}

// weigh notes how large a library has become, and lets go of others until the rest fits.
func (n *libraries) weigh(tenant string, l *lent) {
	bytes := l.library.bytes()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tenants[tenant] != l { // let go meanwhile
		return
	}
	n.bytes += bytes - l.bytes
	l.bytes = bytes
	for n.bytes > n.budget && len(n.tenants) > 1 {
		oldest := tenant
		for name, other := range n.tenants {
			if other.searched < n.tenants[oldest].searched {
				oldest = name
			}
		}
		n.bytes -= n.tenants[oldest].bytes
		delete(n.tenants, oldest)
		n.vectors.forgetAll(oldest)
	}
}
