package projections

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// profile is how much a scope holds.
type profile struct {
	items int64
	words int64 // the sum of the items' lengths
}

// profiles remembers how much scopes hold, so that a search can choose its plan. A count is used
// again for a hundred times as long as it took: counting never costs more than a hundredth of the
// time, and a large scope does not change much meanwhile; a small one is counted every time.
type profiles struct {
	mu    sync.Mutex
	known map[profileKey]counted
}

type profileKey struct {
	version int
	tenant  string
	scope   domain.Scope // empty for the whole tenant
}

type counted struct {
	profile
	until time.Time
}

const (
	fewItems    = 64 // in a scope with fewer, one more makes a difference
	maxProfiles = 10_000
	maxAge      = 30 * time.Second
)

func newProfiles() *profiles { return &profiles{known: map[profileKey]counted{}} }

// of counts what each scope holds; the empty one is everything in the tenant, and comes alone.
func (c *profiles) of(ctx context.Context, p *Knowledge, tenant string, scopes []domain.Scope) (map[domain.Scope]profile, error) {
	found := make(map[domain.Scope]profile, len(scopes))
	missing := c.fresh(p, tenant, scopes, found)
	if len(missing) == 0 {
		return found, nil
	}
	started := time.Now()
	counts, err := p.count(ctx, tenant, missing)
	if err != nil {
		return nil, p.failed(ctx, "count what scopes hold", err)
	}
	c.keep(p, tenant, missing, counts, time.Since(started))
	for _, scope := range missing {
		found[scope] = counts[scope]
	}
	return found, nil
}

func (c *profiles) fresh(p *Knowledge, tenant string, scopes []domain.Scope, found map[domain.Scope]profile) (missing []domain.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, scope := range scopes {
		if known, ok := c.known[profileKey{p.tables().version, tenant, scope}]; ok && now.Before(known.until) {
			found[scope] = known.profile
			continue
		}
		missing = append(missing, scope)
	}
	return missing
}

func (c *profiles) keep(p *Knowledge, tenant string, scopes []domain.Scope, counts map[domain.Scope]profile, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxProfiles {
		clear(c.known)
	}
	until := time.Now().Add(min(100*took, maxAge))
	for _, scope := range scopes {
		if counts[scope].items >= fewItems {
			c.known[profileKey{p.tables().version, tenant, scope}] = counted{counts[scope], until}
		}
	}
}

func (p *Knowledge) count(ctx context.Context, tenant string, scopes []domain.Scope) (map[domain.Scope]profile, error) {
	query := p.reads.NewSelect().TableExpr("? AS s", p.tables().scopes).
		ColumnExpr("scope, count(*), coalesce(sum(words), 0)").
		Where("tenant = ?", tenant).Where("scope IN (?)", bun.List(scopes)).GroupExpr("scope")
	if scopes[0] == "" {
		query = p.reads.NewSelect().TableExpr("?", p.by("live")).
			ColumnExpr("'', count(*), coalesce(sum(words), 0)").
			Where("tenant = ?", tenant).Where(isLive)
	}
	rows, err := query.Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[domain.Scope]profile{}
	for rows.Next() {
		var scope domain.Scope
		var found profile
		if err := rows.Scan(&scope, &found.items, &found.words); err != nil {
			return nil, err
		}
		counts[scope] = found
	}
	return counts, rows.Err()
}
