package projections

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// scopeSize is how much a scope holds.
type scopeSize struct {
	items int64
	words int64 // the sum of the items' lengths
}

// scopeSizes remembers how much scopes hold, so that a search can choose its plan. A count is used
// again for a hundred times as long as it took: counting never costs more than a hundredth of the
// time, and a large scope does not change much meanwhile; a small one is counted every time.
type scopeSizes struct {
	mu    sync.Mutex
	known map[scopeSizeKey]cachedSize
}

type scopeSizeKey struct {
	version int
	tenant  string
	scope   domain.Scope // empty for the whole tenant
}

type cachedSize struct {
	scopeSize
	until time.Time
}

const (
	fewItems    = 64 // in a scope with fewer, one more makes a difference
	maxProfiles = 10_000
	maxAge      = 30 * time.Second
)

func newScopeSizes() *scopeSizes { return &scopeSizes{known: map[scopeSizeKey]cachedSize{}} }

// of counts what each scope holds; the empty one is everything in the tenant, and comes alone.
func (c *scopeSizes) of(ctx context.Context, p *Knowledge, tenant string, scopes []domain.Scope) (map[domain.Scope]scopeSize, error) {
	found := make(map[domain.Scope]scopeSize, len(scopes))
	missing := c.fresh(p, tenant, scopes, found)
	if len(missing) == 0 {
		return found, nil
	}
	started := time.Now()
	counts, err := p.countScopes(ctx, tenant, missing)
	if err != nil {
		return nil, p.failed(ctx, "count what scopes hold", err)
	}
	c.keep(p, tenant, missing, counts, time.Since(started))
	for _, scope := range missing {
		found[scope] = counts[scope]
	}
	return found, nil
}

func (c *scopeSizes) fresh(p *Knowledge, tenant string, scopes []domain.Scope, found map[domain.Scope]scopeSize) (missing []domain.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, scope := range scopes {
		if known, ok := c.known[scopeSizeKey{p.tables().version, tenant, scope}]; ok && now.Before(known.until) {
			found[scope] = known.scopeSize
			continue
		}
		missing = append(missing, scope)
	}
	return missing
}

func (c *scopeSizes) keep(p *Knowledge, tenant string, scopes []domain.Scope, counts map[domain.Scope]scopeSize, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxProfiles {
		clear(c.known)
	}
	until := time.Now().Add(min(100*took, maxAge))
	for _, scope := range scopes {
		if counts[scope].items >= fewItems {
			c.known[scopeSizeKey{p.tables().version, tenant, scope}] = cachedSize{counts[scope], until}
		}
	}
}

func (p *Knowledge) countScopes(ctx context.Context, tenant string, scopes []domain.Scope) (map[domain.Scope]scopeSize, error) {
	query := p.reads.NewSelect().TableExpr("? AS s", p.tables().scopes).
		ColumnExpr("scope, count(*), coalesce(sum(words), 0)").
		Where("tenant = ?", tenant).Where("scope IN (?)", bun.List(scopes)).GroupExpr("scope")
	if scopes[0] == "" {
		query = p.reads.NewSelect().TableExpr("?", p.indexHint("live")).
			ColumnExpr("'', count(*), coalesce(sum(words), 0)").
			Where("tenant = ?", tenant).Where(isLive)
	}
	rows, err := query.Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[domain.Scope]scopeSize{}
	for rows.Next() {
		var scope domain.Scope
		var found scopeSize
		if err := rows.Scan(&scope, &found.items, &found.words); err != nil {
			return nil, err
		}
		counts[scope] = found
	}
	return counts, rows.Err()
}
