package events

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// polling looks for what other processes appended, while the log has followers.
type polling struct {
	mu        sync.Mutex
	followers int
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

// join is called by every follower when it begins.
func (p *polling) join(l *Log) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers++
	if p.followers == 1 {
		var ctx context.Context
		ctx, p.stop = context.WithCancel(l.ctx)
		p.ended.Go(func() { l.poll(ctx) })
	}
}

// leave is called by every follower when it ends; polling ends with the last one.
func (p *polling) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers--
	if p.followers == 0 {
		p.stop()
		p.ended.Wait()
	}
}

// poll compares the heads of all logs with what they were. It is never at it for more than a
// twentieth of the time, however many tenants there are.
func (l *Log) poll(ctx context.Context) {
	known := map[string]string{}
	for {
		began := time.Now()
		heads, err := l.heads(ctx)
		if err != nil && ctx.Err() == nil {
			l.options.Logger.WarnContext(ctx, "looking for new events", "error", err)
		}
		for tenant, head := range heads {
			if known[tenant] != head {
				l.appended.notify(tenant)
			}
		}
		if err == nil {
			known = heads
		}
		select {
		case <-time.After(max(l.options.Poll, 20*time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// everyTenant has those with events and those with a checkpoint: their log may have been restored to
// nothing.
const everyTenant = tenantsQuery + `, chosen (tenant) AS (
		SELECT tenant FROM tenants WHERE tenant IS NOT NULL
		UNION
		SELECT tenant FROM checkpoints
	)` + theirHeads

// theirHeads are those of some tenants. A head is the id of the newest event, NULL without one.
const theirHeads = `, heads (tenant, head) AS (
		SELECT
			t.tenant,
			(SELECT event_id FROM events WHERE tenant = t.tenant ORDER BY position DESC LIMIT 1)
		FROM chosen AS t
	)`

// heads are the ids of every tenant's newest event, empty without one.
func (l *Log) heads(ctx context.Context) (map[string]string, error) {
	heads := map[string]string{}
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant string
		var head sql.NullString
		err := rows.Scan(&tenant, &head)
		heads[tenant] = head.String
		return err
	}, everyTenant+` SELECT tenant, head FROM heads`)
	return heads, err
}

// behind lists the tenants whose newest event is not the one at the projection's checkpoint: of these, or nil
// for all.
func (l *Log) behind(ctx context.Context, projection string, of map[string]struct{}) ([]string, error) {
	heads, args := everyTenant, []any{}
	if of != nil {
		if len(of) == 0 {
			return nil, nil
		}
		for tenant := range of {
			args = append(args, tenant)
		}
		heads = `WITH chosen (tenant) AS (VALUES (?)` + strings.Repeat(`, (?)`, len(of)-1) + `)` + theirHeads
	}
	var tenants []string
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		tenants = append(tenants, tenant)
		return err
	}, heads+`
		SELECT h.tenant
		FROM heads AS h
		LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = h.tenant
		WHERE h.head IS DISTINCT FROM c.event_id
		ORDER BY h.tenant`, append(args, projection)...)
	return tenants, err
}

// NotifyAll lets those who follow the log look whether their checkpoints are where the logs end, as they do
// after an append: a checkpoint was set back.
func (l *Log) NotifyAll(ctx context.Context) error {
	tenants, err := l.Tenants(ctx)
	for _, tenant := range tenants {
		l.appended.notify(tenant)
	}
	return err
}

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

// AwaitHead returns when a tenant's log goes up to a position, whichever process appends to it, and tells
// where the log ends. The error is that of ctx if it ends first.
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
