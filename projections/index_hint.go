package projections

import (
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// isGone holds for items that no answer may contain.
const isGone = "status IN ('deleted', 'erased')"

// indexHint is the knowledge table as k, read by one of its indexes of some items. SQLite is told: of indexes that begin with
// the tenant, it may rather take one of all items. PostgreSQL knows how many each has.
func (p *Knowledge) indexHint(index string) bun.Safe {
	table := p.tables().knowledge
	if p.db.Engine == database.Postgres {
		return bun.Safe(fmt.Sprintf("%s AS k", table))
	}
	return bun.Safe(fmt.Sprintf("%s AS k INDEXED BY %s_%s", table, table, index))
}

// mayBeStale holds for items that were reported stale, or were confirmed until a date.
const mayBeStale = "(k.stale_reporters > 0 OR k.confirm_until IS NOT NULL)"

// selectiveIndex names the index that has what a filter asks for and little else, and says how that index says it of k; nothing
// if there is none.
func selectiveIndex(f domain.Filter) (index, condition string) {
	only := func(statuses ...domain.Status) bool {
		return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, func(s domain.Status) bool { return !slices.Contains(statuses, s) })
	}
	switch {
	case only(domain.IsDeleted, domain.IsErased):
		return "gone", "k." + isGone
	case only(domain.IsSuperseded):
		return "replaced", "k.superseded_by <> ''"
	case f.Stale != nil && *f.Stale:
		return "stale", mayBeStale
	}
	return "", ""
}
