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

// indexCache are what is kept in memory, by tenant. Beyond the budget those go that were not searched for
// the longest time, and are read again when they are; the one searched last stays, whatever its size. It
// is safe for concurrent use.
type indexCache struct {
	budget  int
	vectors vectorCache // of the tenants whose sketches are here, and which hear of what is erased

	mu          sync.Mutex
	tenants     map[string]*cacheEntry
	bytes       int
	searchCount int64 // so far
}

// cacheEntry is a vector index with what eviction needs.
type cacheEntry struct {
	index    *vectorIndex
	bytes    int
	searched int64 // the number of the last search
}

func newIndexCache(budget int) *indexCache {
	return &indexCache{budget: budget, tenants: map[string]*cacheEntry{}}
}

// load gives what is known of a tenant, and reads it if need be.
func (n *indexCache) load(ctx context.Context, m *Meaning, tenant string) (*vectorIndex, error) {
	l := n.entryFor(tenant)
	read, err := l.index.load(ctx, m, tenant)
	if read {
		n.vectors.forgetAll(tenant)
		n.resize(tenant, l)
	}
	return l.index, err
}

// readAhead reads tenants' sketches before they are searched for the first time: those of the longest logs, as long as half of the
// room is left.
func (n *indexCache) readAhead(ctx context.Context, m *Meaning) error {
	var tenants []string
	err := m.db.NewSelect().TableExpr("checkpoints").Column("tenant").Where("projection = ?", m.Name()).
		OrderExpr("position DESC, tenant").Scan(database.ForEveryTenant(ctx), &tenants)
	if err != nil {
		return fmt.Errorf("look for sketches to read: %w", err)
	}
	for _, tenant := range tenants {
		if ctx.Err() != nil || n.size() > n.budget/2 {
			return nil
		}
		if _, err := n.load(database.ForTenant(ctx, tenant), m, tenant); err != nil {
			return fmt.Errorf("read sketches: %w", err)
		}
	}
	return nil
}

// size is how many bytes there are.
func (n *indexCache) size() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// update replaces the pieces of items, and forgets the vectors of those that went. It comes after their
// commit: whoever loads the tenant later reads them.
func (n *indexCache) update(e *embedded) {
	n.mu.Lock()
	l := n.tenants[e.tenant]
	n.mu.Unlock()
	if l == nil {
		return
	}
	n.forgetVectors(e.tenant, l.index, l.index.update(e))
	n.resize(e.tenant, l)
}

// forgetVectors drops vectors, or all that a tenant has if its sketches are to be read again.
func (n *indexCache) forgetVectors(tenant string, l *vectorIndex, gone []hash) {
	if !l.isLoaded() {
		n.vectors.forgetAll(tenant)
		return
	}
	n.vectors.forget(tenant, gone)
}

func (n *indexCache) entryFor(tenant string) *cacheEntry {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.tenants[tenant]
	if l == nil {
		l = &cacheEntry{index: &vectorIndex{sketches: map[domain.Scope]*sketchIndex{}}}
		n.tenants[tenant] = l
	}
	n.searchCount++
	l.searched = n.searchCount
	return l
}

// resize notes how large an index has become, and evicts others until the rest fits.
func (n *indexCache) resize(tenant string, l *cacheEntry) {
	bytes := l.index.bytes()
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
