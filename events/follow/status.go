package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// SubscriptionStatus is the progress of a projection on a tenant's log.
type SubscriptionStatus struct {
	Position    int64         // how far it has read
	Head        int64         // the log's newest position, or the projection's if that is higher
	Lag         time.Duration // age of the oldest unread event; 0 if all are read
	ReadAt      time.Time     // when it reached its position; zero if it has not begun
	Holder      string        // the process that works on it now; empty if none
	Quarantined int64         // streams that it skips
	LastError   error         // why it is stalled, as far as this process knows
	Halted      bool          // until an operator repairs it
}

// Describe copies the subscription's status into a projection's status.
func (f SubscriptionStatus) Describe(s domain.ProjectionStatus) domain.ProjectionStatus {
	s.Position, s.Head, s.LagEvents, s.LagSeconds = f.Position, f.Head, f.Head-f.Position, f.Lag.Seconds()
	s.ReadAt, s.Holder, s.Quarantined, s.Halted = f.ReadAt, f.Holder, f.Quarantined, f.Halted
	if f.LastError != nil {
		s.Error = f.LastError.Error()
	}
	return s
}

// SubscriptionStatus reads the progress of a projection on a tenant's log, whichever process works on it.
func (l *Followers) SubscriptionStatus(ctx context.Context, projection, tenant string) (SubscriptionStatus, error) {
	c, err := readCheckpoint(ctx, l.db, projection, tenant)
	if err != nil {
		return SubscriptionStatus{}, err
	}
	f := SubscriptionStatus{Position: c.position, ReadAt: c.updatedAt.Time}
	f.LastError = l.stalled(projection, tenant, c)
	f.Halted = isForGood(f.LastError)
	head, _, err := l.log.Reader.Head(ctx, tenant)
	if err != nil {
		return f, err
	}
	f.Head = max(head, f.Position)
	lease, err := l.Lease(ctx, projection)
	if err != nil {
		return f, err
	}
	if lease.Held() {
		f.Holder = lease.Holder
	}
	if f.Position < f.Head {
		var next database.Time
		err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error { return rows.Scan(&next) },
			`SELECT recorded_at FROM events WHERE tenant = ? AND position = ?`, tenant, f.Position+1)
		if err != nil {
			return f, fmt.Errorf("read the lag of %s: %w", projection, events.Unavailable(err))
		}
		f.Lag = l.since(next)
	}
	if c.changes == 0 {
		return f, nil
	}
	f.Quarantined, err = l.passedOver(ctx, projection, tenant)
	return f, err
}

// stalled is why a projection is stalled on a tenant's log; nil if it is not.
func (l *Followers) stalled(projection, tenant string, c checkpoint) error {
	if restored := c.check(projection, tenant); restored != nil {
		return restored
	}
	return l.LastError(projection, tenant)
}

// isForGood tells whether a stalled projection needs an operator.
func isForGood(trouble error) bool {
	return errors.Is(trouble, events.ErrRestored) || errors.Is(trouble, events.ErrHole)
}

// since is the age of something recorded; 0 if it was not recorded.
func (l *Followers) since(recorded database.Time) time.Duration {
	if recorded.IsZero() {
		return 0
	}
	return max(0, l.options.Clock().Sub(recorded.Time))
}

// passedOver counts the quarantined streams of a projection, of one tenant if tenant is not empty.
func (l *Followers) passedOver(ctx context.Context, projection, tenant string) (n int64, err error) {
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error { return rows.Scan(&n) },
		`SELECT count(*) FROM quarantine WHERE projection = ? AND (? = '' OR tenant = ?)`, projection, tenant, tenant)
	if err != nil {
		return 0, fmt.Errorf("count quarantine of %s: %w", projection, events.Unavailable(err))
	}
	return n, nil
}

// Await returns when a projection, in any process, has read a tenant's log up to a position. It is notified of the
// progress of this process, and polls at intervals of 10 to 250 ms. The error is that of ctx if it ends first.
func (l *Followers) Await(ctx context.Context, projection, tenant string, position int64) error {
	const shortest, longest = 10 * time.Millisecond, 250 * time.Millisecond
	defer l.log.Background().Boost(projection)()
	for pause := shortest; ; pause = min(2*pause, longest) {
		moved := l.moved.wait()
		c, err := readCheckpoint(ctx, l.db, projection, tenant)
		if err != nil {
			return err
		}
		if c.position >= position {
			l.finishing.Lock() // wait until the committed changes of this process are done
			defer l.finishing.Unlock()
			return nil
		}
		if pause == 2*shortest { // this process is not at work on it, or slow
			l.log.Watchers.Ask(ctx, projection, tenant)
		}
		select {
		case <-moved:
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lastErrors are the reasons why projections are stalled, by projection and tenant.
type lastErrors struct {
	mu      sync.Mutex
	reasons map[reading]error
}

type reading struct{ projection, tenant string }

// LastError is why a projection of this process is stalled on a tenant's log; nil if it is not. If it matches
// [events.ErrRestored] or [events.ErrHole], the projection has halted; otherwise it keeps retrying.
func (l *Followers) LastError(projection, tenant string) error {
	l.lastErrors.mu.Lock()
	defer l.lastErrors.mu.Unlock()
	return l.lastErrors.reasons[reading{projection, tenant}]
}

// note sets the reason, nil for none, and tells whether it has changed.
func (t *lastErrors) note(projection, tenant string, reason error) (isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := reading{projection, tenant}
	before := t.reasons[key]
	if reason == nil {
		delete(t.reasons, key)
		return before != nil
	}
	t.reasons[key] = reason
	return before == nil || before.Error() != reason.Error()
}

// Lag is the progress of a projection on the logs of all tenants.
type Lag struct {
	LagEvents   int64         // of the log with the largest lag
	Lag         time.Duration // age of the oldest unread event of any log
	Stalled     int64         // logs on which it is stalled, as far as this process knows
	Halted      int64         // those of them on which it has halted until an operator repairs them
	Quarantined int64         // streams that it skips
	Mine        bool          // this process works on it now
}

// Lag reads the progress of a projection on all tenants' logs, in a few queries.
func (l *Followers) Lag(ctx context.Context, projection string) (Lag, error) {
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
	}, events.EveryHead+`
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
		return s, fmt.Errorf("read the progress of %s: %w", projection, events.Unavailable(err))
	}
	if s.Quarantined, err = l.passedOver(ctx, projection, ""); err != nil {
		return s, err
	}
	lease, err := l.Lease(ctx, projection)
	s.Mine = lease.Held() && lease.Holder == l.db.InstanceID
	return s, err
}
