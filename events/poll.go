package events

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/background"
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
	reader     *Reader
	background *background.Worker
	ctx        context.Context // ends with the log
	appended   *notifier       // tenants whose logs have grown
	wanted     *notifier       // projections that an idle process wants
	polling    polling
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
		p.ended.Go(func() { l.reader.db.Signals(ctx, l.hear) })
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

// Ask makes the process that works on a projection look at a tenant's log at once, and not yield to its commands for a
// second.
func (l *Watchers) Ask(ctx context.Context, projection, tenant string) {
	l.reader.db.Signal(ctx, projection+" "+tenant)
}

// Want asks the process that works on a projection to leave it to this one, which is idle.
func (l *Watchers) Want(ctx context.Context, projection string) { l.reader.db.Signal(ctx, projection) }

// hear passes on what a process has asked for.
func (l *Watchers) hear(message string) {
	projection, tenant, ofTenant := strings.Cut(message, " ")
	if !ofTenant {
		l.wanted.notify(projection)
		return
	}
	time.AfterFunc(time.Second, l.background.Boost(projection))
	l.appended.notify(tenant)
}

// poll compares the heads of all logs with the previous ones.
func (l *Watchers) poll(ctx context.Context) {
	known := map[string]string{}
	for {
		heads, err := l.Heads(ctx)
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

// Heads are the ids of every tenant's newest event; empty if there is none. The context may read every tenant.
func (l *Watchers) Heads(ctx context.Context) (map[string]string, error) {
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
	w, end := l.appended.watch(tenant)
	l.polling.join(l)
	return w, func() {
		end()
		l.polling.leave()
	}
}

// WatchWanted notifies when an idle process wants a projection. Call leave when done.
func (l *Watchers) WatchWanted(projection string) (wanted <-chan struct{}, leave func()) {
	w, leave := l.wanted.watch(projection)
	return w.Wake, leave
}

// AwaitHead returns when a tenant's log reaches a position, whichever process appends to it, and returns the position
// of its head. The error is that of ctx if it ends first.
func (l *Watchers) AwaitHead(ctx context.Context, tenant string, position int64) (head int64, err error) {
	if head, _, err = l.reader.Head(ctx, tenant); err != nil || head >= position {
		return head, err
	}
	const longest = 250 * time.Millisecond
	grown, leave := l.Watch(tenant)
	defer leave()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		now, _, err := l.reader.Head(ctx, tenant)
		if err != nil {
			return head, err
		}
		if head = now; head >= position {
			return head, nil
		}
		select {
		case <-grown:
		case <-time.After(pause): // a standby may replay it at any moment
		case <-ctx.Done():
			return head, ctx.Err()
		}
	}
}
