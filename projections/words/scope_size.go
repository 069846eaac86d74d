package words

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// ScopeSize is how much a scope holds.
type ScopeSize struct {
	Items int64
	Words int64 // the sum of the items' lengths
}

// ScopeSizes remembers the sizes of large scopes for sizeAge. A scope with few items is counted every time.
type ScopeSizes struct {
	mu    sync.Mutex
	known map[scopeSizeKey]cachedSize
}

type scopeSizeKey struct {
	version int
	tenant  string
	scope   domain.Scope // empty for the whole tenant
}

type cachedSize struct {
	ScopeSize
	until time.Time
}

const (
	fewItems    = 64 // below this, one more item makes a difference
	maxProfiles = 10_000
	// sizeAge is how long a count is reused. In this time a scope does not change much. Counting a million items takes a
	// tenth of a second, too long for every search.
	sizeAge = 2 * time.Second
)

func NewScopeSizes() *ScopeSizes { return &ScopeSizes{known: map[scopeSizeKey]cachedSize{}} }

// Of counts the items and words of each scope. The empty scope is the whole tenant, and comes alone.
func (c *ScopeSizes) Of(
	ctx context.Context, p Index, tenant string, scopes []domain.Scope,
) (map[domain.Scope]ScopeSize, error) {
	found := make(map[domain.Scope]ScopeSize, len(scopes))
	var missing []domain.Scope
	now := time.Now()
	c.mu.Lock()
	for _, scope := range scopes {
		if known, ok := c.known[scopeSizeKey{p.Tables.Version, tenant, scope}]; ok && now.Before(known.until) {
			found[scope] = known.ScopeSize
		} else {
			missing = append(missing, scope)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	counts, err := p.countScopes(ctx, tenant, missing)
	if err != nil {
		return nil, rows.Failed(ctx, "count what scopes hold", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxProfiles {
		clear(c.known)
	}
	for _, scope := range missing {
		if found[scope] = counts[scope]; counts[scope].Items >= fewItems {
			c.known[scopeSizeKey{p.Tables.Version, tenant, scope}] = cachedSize{counts[scope], now.Add(sizeAge)}
		}
	}
	return found, nil
}

func (p Index) countScopes(
	ctx context.Context, tenant string, scopes []domain.Scope,
) (map[domain.Scope]ScopeSize, error) {
	query := p.From.NewSelect().TableExpr("? AS s", p.Tables.Scopes).
		ColumnExpr("scope, count(*), coalesce(sum(words), 0)").
		Where("tenant = ?", tenant).Where("scope IN (?)", bun.List(scopes)).GroupExpr("scope")
	if scopes[0] == "" {
		query = p.From.NewSelect().TableExpr("?", p.IndexHint("live")).
			ColumnExpr("'', count(*), coalesce(sum(words), 0)").
			Where("tenant = ?", tenant).Where(rows.Live)
	}
	rows, err := query.Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[domain.Scope]ScopeSize{}
	for rows.Next() {
		var scope domain.Scope
		var found ScopeSize
		if err := rows.Scan(&scope, &found.Items, &found.Words); err != nil {
			return nil, err
		}
		counts[scope] = found
	}
	return counts, rows.Err()
}
