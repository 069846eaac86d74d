package events

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
)

// polling looks for appends of other processes, while the log has followers.
type polling struct {
	mu        sync.Mutex
	followers int
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

// Watchers notifies followers of logs that have grown, in this process or another.
type Watchers struct {
	reader   *Reader
	ctx      context.Context // ends with the log
	appended *notifier       // tenants whose logs have grown
	polling  polling
}

// join is called by every follower at its start.
func (p *polling) join(l *Watchers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers++
	if p.followers == 1 {
		var ctx context.Context
		ctx, p.stop = context.WithCancel(l.ctx)
		p.ended.Go(func() { l.poll(ctx) })
	}
}

// leave is called by every follower at its end. Polling ends with the last one.
func (p *polling) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers--
	if p.followers == 0 {
		p.stop()
		p.ended.Wait()
	}
}

// poll compares the heads of all logs with the previous ones.
func (l *Watchers) poll(ctx context.Context) {
	known := map[string]string{}
	for {
		heads, err := l.heads(ctx)
		if err != nil && ctx.Err() == nil {
			l.reader.options.Logger.WarnContext(ctx, "could not look for new events", "error", err)
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
		case <-time.After(l.reader.options.Poll):
		case <-ctx.Done():
			return
		}
	}
}

// EveryHead begins a query on heads (tenant, head) of all tenants with events or with a checkpoint. A tenant with
// only a checkpoint may have been restored to an empty log.
const EveryHead = tenantsQuery + `, chosen (tenant) AS (
		SELECT tenant FROM tenants WHERE tenant IS NOT NULL
		UNION
		SELECT tenant FROM checkpoints
	)` + HeadsOfChosen

// HeadsOfChosen continues a query with heads (tenant, head) after WITH chosen (tenant). A head is the id of the
// newest event; NULL if there is none.
const HeadsOfChosen = `, heads (tenant, head) AS (
		SELECT
			t.tenant,
			(SELECT event_id FROM events WHERE tenant = t.tenant ORDER BY position DESC LIMIT 1)
		FROM chosen AS t
	)`

// heads are the ids of every tenant's newest event; empty if there is none.
func (l *Watchers) heads(ctx context.Context) (map[string]string, error) {
	heads := map[string]string{}
	err := database.ForEach(ctx, l.reader.db, func(rows *sql.Rows) error {
		var tenant string
		var head sql.NullString
		err := rows.Scan(&tenant, &head)
		heads[tenant] = head.String
		return err
	}, EveryHead+` SELECT tenant, head FROM heads`)
	return heads, err
}

// Notify makes the followers of a tenant's log check whether it has grown.
func (l *Watchers) Notify(tenant string) { l.appended.notify(tenant) }

// Watch notifies when a tenant's log may have grown: at once after an append of this process, within [Options.Poll]
// after one of another. Call it before reading, so that nothing is missed. Call leave when done.
func (l *Watchers) Watch(tenant string) (grown <-chan struct{}, leave func()) {
	w, leave := l.watch(tenant)
	return w.Wake, leave
}

// WatchAll is [Watchers.Watch] for every tenant's log. The watcher names those that have grown.
func (l *Watchers) WatchAll() (w *Watcher, leave func()) { return l.watch("") }

func (l *Watchers) watch(tenant string) (w *Watcher, leave func()) {
	n := l.appended
	w = &Watcher{Wake: make(chan struct{}, 1), notifier: n, only: tenant, tenants: map[string]struct{}{}}
	n.mu.Lock()
	n.watchers[w] = struct{}{}
	n.mu.Unlock()
	l.polling.join(l)
	return w, func() {
		n.mu.Lock()
		delete(n.watchers, w)
		n.mu.Unlock()
		l.polling.leave()
	}
}

// AwaitHead returns when a tenant's log reaches a position, whichever process appends to it, and returns the position
// of its head. The error is that of ctx if it ends first.
func (l *Watchers) AwaitHead(ctx context.Context, tenant string, position int64) (head int64, err error) {
	if head, _, err = l.reader.Head(ctx, tenant); err != nil || head >= position {
		return head, err
	}
	grown, leave := l.Watch(tenant)
	defer leave()
	for {
		now, _, err := l.reader.Head(ctx, tenant)
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
