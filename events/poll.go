package events

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
)

// polling looks for what other processes appended, for as long as somebody follows the log.
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

// leave is called by every follower when it ends; after the last one nobody looks any more.
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

// behind lists the tenants whose newest event is not the one at the projection's checkpoint: of these, or nil for all.
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
