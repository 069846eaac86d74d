package events

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/annals-kb/annals/database"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// Watch tells that a tenant's log may have grown: at once if this process appended, within
// [Options.Poll] if another did. Take it before reading, and nothing is missed. Call leave when done.
func (l *Log) Watch(tenant string) (grown <-chan struct{}, leave func()) {
	w, forget := l.appended.watch(tenant)
	l.polling.join(l)
	return w.wake, func() {
		forget()
		l.polling.leave()
	}
}

// AwaitHead returns when a tenant's log goes up to a position, whichever process appends to it, and tells where the log
// ends. The error is that of ctx if it ends first.
func (l *Log) AwaitHead(ctx context.Context, tenant string, position int64) (head int64, err error) {
	if head, _, err = l.Head(ctx, tenant); err != nil || head >= position {
		return head, err
	}
	grown, leave := l.Watch(tenant)
	defer leave()
	for {
		now, _, err := l.Head(ctx, tenant)
		if err != nil {
			return head, err
		}
		if head = now; head >= position {
			return head, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return head, ctx.Err()
		}
	}
}

// PositionOf is where in a tenant's log an event is. The error matches [domain.ErrMalformed] if it is
// noItems.
func (l *Log) PositionOf(ctx context.Context, tenant, eventID string) (position int64, err error) {
	if id, err := uuid.Parse(eventID); err != nil || id.String() != eventID {
		return 0, noSuchEvent()
	}
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error { return rows.Scan(&position) }, `
		SELECT position
		FROM events
		WHERE tenant = ? AND event_id = ?`, tenant, eventID)
	switch {
	case err != nil:
		return 0, fmt.Errorf("look up an event: %w", unavailable(err))
	case position == 0:
		return 0, noSuchEvent()
	}
	return position, nil
}

func noSuchEvent() error {
	return domain.Refuse(domain.ErrMalformed, "the log has no event with the id that was named as the last one seen").
		WithFix("name the id of an event as it came; if the log was restored from a backup, begin again without one")
}
