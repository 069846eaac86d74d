package events

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Causes finds the events that caused others, what caused those in turn, and so on, up to
// [domain.MaxCauses] steps back. Ids that no event of the tenant has are left out: what they name lies
// elsewhere.
func (l *Log) Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error) {
	const most = 1000 // events, whatever the ids
	known, asked := map[string]domain.Event{}, map[string]bool{}
	for range domain.MaxCauses {
		var fresh []string
		for _, id := range ids {
			if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id || asked[id] || len(asked) >= most {
				continue
			}
			asked[id] = true
			fresh = append(fresh, id)
		}
		if len(fresh) == 0 {
			break
		}
		found, err := queryEvents(ctx, l.db, `
			SELECT `+recordColumns+`
			FROM `+recordTables+`
			WHERE e.tenant = ? AND e.event_id IN (?)
			ORDER BY e.position`, tenant, bun.List(fresh))
		if err != nil {
			return nil, fmt.Errorf("find causes: %w", unavailable(err))
		}
		ids = nil
		for _, event := range found {
			known[event.EventID] = event
			ids = append(ids, event.CausationID)
		}
	}
	return known, nil
}
