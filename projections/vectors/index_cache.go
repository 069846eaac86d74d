package vectors

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/embedding"
)

// IndexCache keeps vector indexes in memory, by tenant. Beyond the budget it evicts those that were searched least
// recently; a search loads them again. The one searched last stays, whatever its size. It is safe for concurrent use.
type IndexCache struct {
	budget  int
	evicted atomic.Bool // not everything fits

	mu          sync.Mutex
	Tenants     map[string]*VectorIndex
	bytes       int
	searchCount int64 // searches so far
}

func NewIndexCache(budget int) *IndexCache {
	return &IndexCache{budget: budget, Tenants: map[string]*VectorIndex{}}
}

// describe adds to the settings how many pieces with vectors of so many dimensions fit, and whether too many came.
func (n *IndexCache) describe(dims int, settings map[string]string) {
	words := embedding.SketchBytes(dims) / 8
	pieces := n.budget / (bytesPerPiece + 8*(words+prefixLength(words)))
	settings["sketch_memory"] = fmt.Sprintf("%d MB for %s pieces", n.budget>>20, humanize.Comma(int64(pieces)))
	if n.evicted.Load() {
		settings["sketches_evicted"] = "since the server started"
	}
}

// load returns a tenant's index. It reads it if it is not in memory, and goes on if the caller leaves: otherwise a
// large tenant might never be read. On PostgreSQL, the index learns what other processes have embedded.
func (n *IndexCache) load(ctx context.Context, m *Projection, tenant string) (*VectorIndex, error) {
	l := n.indexOf(tenant)
	if m.db.Engine == database.Postgres {
		if err := l.catchUp(ctx, m, tenant); err != nil {
			return nil, err
		}
	}
	read, err := l.load(context.WithoutCancel(ctx), m, tenant)
	if read {
		n.resize(tenant, l)
	}
	return l, err
}

// ReadAhead reads tenants' sketches before their first search, those of the longest logs first, until half of the
// budget is used.
func (n *IndexCache) ReadAhead(ctx context.Context, m *Projection) error {
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

// size is how many bytes the indexes take.
func (n *IndexCache) size() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// update replaces the pieces of items after their commit. A tenant that is not in memory is read later.
func (n *IndexCache) update(e *embedded) {
	n.mu.Lock()
	l := n.Tenants[e.tenant]
	n.mu.Unlock()
	if l != nil {
		l.update(e)
		n.resize(e.tenant, l)
	}
}

func (n *IndexCache) indexOf(tenant string) *VectorIndex {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.Tenants[tenant]
	if l == nil {
		l = newVectorIndex()
		n.Tenants[tenant] = l
	}
	n.searchCount++
	l.searched = n.searchCount
	return l
}

// resize notes an index's new size, and evicts others until all fit.
func (n *IndexCache) resize(tenant string, l *VectorIndex) {
	bytes := l.bytes()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Tenants[tenant] != l { // evicted meanwhile
		return
	}
	n.bytes += bytes - l.Bytes
	l.Bytes = bytes
	n.evicted.Store(n.evicted.Load() || n.bytes > n.budget)
	for n.bytes > n.budget && len(n.Tenants) > 1 {
		oldest := tenant
		for name, other := range n.Tenants {
			if other.searched < n.Tenants[oldest].searched {
				oldest = name
			}
		}
		n.bytes -= n.Tenants[oldest].Bytes
		delete(n.Tenants, oldest)
	}
}
