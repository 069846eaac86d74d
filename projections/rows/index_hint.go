package rows

import (
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Gone holds for items that no answer may contain.
const Gone = "status IN ('deleted', 'erased')"

// IndexHint is the knowledge table as k, read by one of its indexes of some items. SQLite is told: of indexes that
// begin with the tenant, it may rather take one of all items. PostgreSQL knows how many each has.
func (p Reader) IndexHint(index string) bun.Safe {
	table := p.Tables.Knowledge
	if p.DB.Engine == database.Postgres {
		return bun.Safe(fmt.Sprintf("%s AS k", table))
	}
	return bun.Safe(fmt.Sprintf("%s AS k INDEXED BY %s_%s", table, table, index))
}

// ConfidenceAt is an item's confidence at the time ?0.
const ConfidenceAt = "CASE WHEN k.confirm_until <= ?0 THEN k.expired_confidence ELSE k.confidence END"

// MayBeStale holds for items that were reported stale, or were confirmed until a date.
const MayBeStale = "(k.stale_reporters > 0 OR k.confirm_until IS NOT NULL)"

// SelectiveIndex names the index that has what a filter asks for and little else, and says how that index says it
// of k; nothing if there is none.
func SelectiveIndex(f domain.Filter) (index, condition string) {
	only := func(statuses ...domain.Status) bool {
		return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, func(s domain.Status) bool { return !slices.Contains(statuses, s) })
	}
	switch {
	case only(domain.IsDeleted, domain.IsErased):
		return "gone", "k." + Gone
	case only(domain.IsSuperseded):
		return "replaced", "k.superseded_by <> ''"
	case f.Stale != nil && *f.Stale:
		return "stale", MayBeStale
	}
	return "", ""
}
