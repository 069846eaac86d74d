package events

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
)

// Lag is how a projection gets on with the logs of all tenants.
type Lag struct {
	LagEvents   int64         // with the log that it is farthest behind with
	Lag         time.Duration // age of the oldest event of any log that it has not read
	Stalled     int64         // logs that it does not get on with, as far as this process can tell
	Halted      int64         // those of them that it has given up, until somebody mends it
	Quarantined int64         // streams that it passes over
	Mine        bool          // this process works on it now
}

// Lag is how a projection gets on, in a few queries however many tenants there are.
func (l *Log) Lag(ctx context.Context, projection string) (Lag, error) {
	ctx = database.ForEveryTenant(ctx)
	var s Lag
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant string
		var head int64
		var c checkpoint
		var next database.Time
		if err := rows.Scan(&tenant, &head, &c.position, &c.eventID, &c.found, &next); err != nil {
			return err
		}
		s.LagEvents = max(s.LagEvents, head-c.position)
		s.Lag = max(s.Lag, l.since(next))
		trouble := l.stalled(projection, tenant, c)
		if trouble != nil {
			s.Stalled++
		}
		if isForGood(trouble) {
			s.Halted++
		}
		return nil
	}, everyTenant+`
		SELECT
			h.tenant, coalesce(newest.position, 0), coalesce(c.position, 0), coalesce(CAST(c.event_id AS text), ''),
			found.event_id, next.recorded_at
		FROM heads AS h
		LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = h.tenant
		LEFT JOIN events AS newest ON newest.tenant = h.tenant AND newest.event_id = h.head
		LEFT JOIN events AS found ON found.tenant = h.tenant AND found.position = c.position
		LEFT JOIN events AS next ON next.tenant = h.tenant AND next.position = coalesce(c.position, 0) + 1
		WHERE h.head IS DISTINCT FROM c.event_id`, projection)
	if err != nil {
		return s, fmt.Errorf("see how %s stands: %w", projection, unavailable(err))
	}
	if s.Quarantined, err = l.passedOver(ctx, projection, ""); err != nil {
		return s, err
	}
	lease, err := l.Lease(ctx, projection)
	s.Mine = lease.Held() && lease.Holder == l.db.InstanceID
	return s, err
}
