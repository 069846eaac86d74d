package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// moreForEach is the time that a transaction has for each command that another one brings: see [Options.CommitTimeout].
const moreForEach = 4 * time.Millisecond

// attempts is how often a command is tried alone after its batch failed.
const attempts = 3

// commitAll writes the waiting commands of a tenant until its queue is empty. The first command is written at once;
// those that arrive meanwhile are written together.
func (l *Log) commitAll(tenant string, q *tenantQueue) {
	defer l.background.Command()()
	for groups := l.take(tenant, q); len(groups) > 0; groups = l.take(tenant, q) {
		var commands []*command
		for _, g := range groups {
			for i := range g.commands {
				commands = append(commands, &g.commands[i])
			}
		}
		l.commit(tenant, commands)
		for _, g := range groups {
			close(g.done)
		}
	}
}

// commit gives every command its result. It writes all in one transaction or, if that fails, each in its own. If the
// database is unavailable, it does not retry: the commands fail with that error.
func (l *Log) commit(tenant string, commands []*command) {
	err := l.append(tenant, commands)
	if err == nil {
		return
	}
	if _, refused := errors.AsType[refusedLater](err); !refused {
		l.options.Logger.WarnContext(l.ctx, "a batch of commands could not be written",
			"tenant", tenant, "commands", len(commands), "alone", !isFatal(err), "error", err)
	}
	for _, c := range commands {
		for range attempts { // another writer may have taken the position
			if isFatal(err) {
				break
			}
			err = l.append(tenant, []*command{c})
			if _, refused := errors.AsType[refusedLater](err); err == nil || refused {
				break
			}
		}
		if later, refused := errors.AsType[refusedLater](err); refused {
			c.result, c.earlier, err = domain.Result{Err: later.error}, nil, nil
		} else if isFatal(err) || isRepeatable(err) || errors.Is(err, errNotCommitted) { // again and again
			c.result, c.earlier = domain.Result{Err: passing(err)}, nil
		} else if err != nil {
			stream := c.Command.Stream()
			err := errors.Join(refusalOf(stream, err), fmt.Errorf("record %s: %w", stream, err))
			c.result, c.earlier = domain.Result{Err: err}, nil
		}
	}
}

// refusalOf is the answer to a command that could not be written even alone, although the database works.
func refusalOf(stream string, err error) *domain.Refusal {
	if denied := database.Denied(err); denied != "" {
		return domain.Unprivileged(denied)
	}
	if told, is := errors.AsType[*domain.Refusal](err); is {
		return told
	}
	refusal := domain.Refuse(domain.ErrBroken,
		"nothing was recorded: what is stored of %s, or what it would become, makes no sense to this server", stream)
	if _, isItem := domain.ItemOf(stream); isItem {
		return refusal.WithFix("the server's log says why; annals rebuild knowledge --repair computes what is stored anew")
	}
	return refusal.WithFix("the server's log says why")
}

// isFatal tells whether the next transaction would fail, too: the database is unavailable, full or too slow, or the
// log is closing.
func isFatal(err error) bool {
	return isPassing(err) && !isRepeatable(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// append decides commands and records the results in one transaction. Without an error, every command has its result,
// and the events are committed. With an error, nothing was recorded, unless it matches database.ErrOutcomeUnknown.
func (l *Log) append(tenant string, commands []*command) error {
	b := &batch{log: l, inline: l.inline, tenant: tenant, commands: commands}
	for _, c := range commands {
		b.more += time.Duration(len(c.Then)) * moreForEach
	}
	ctx, cancel := context.WithTimeout(database.ForTenant(l.ctx, tenant), l.options.CommitTimeout+b.more)
	defer cancel()
	began := time.Now()
	if l.options.Span != nil {
		for _, c := range commands {
			within, end := l.options.Span(c.caller, "append")
			_, locked := l.options.Span(within, "lock")
			defer end()
			b.locked = append(b.locked, locked)
		}
	}
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return b.write(ctx, tx) })
	l.metrics.commit.Observe(time.Since(began).Seconds())
	l.metrics.batch.Observe(float64(len(commands)))
	if errors.Is(err, database.ErrOutcomeUnknown) {
		err = l.resolveUnknownCommit(b, err)
	}
	if err != nil {
		return err
	}
	l.kept.note(b)
	for name := range b.streams.changed {
		l.changesOf(domain.KindOfStream(name)).Add(1)
	}
	if len(b.records) > 0 {
		l.Watchers.appended.notify(tenant)
	}
	return nil
}

// errNotCommitted says that a transaction whose COMMIT was not answered was not committed.
var errNotCommitted = errors.New("the COMMIT that was not answered did not happen")

// resolveUnknownCommit returns nil if a transaction whose COMMIT was not answered was committed. It waits for the
// database until the commit timeout. The error matches database.ErrOutcomeUnknown if the database stayed unavailable;
// otherwise, nothing was committed.
func (l *Log) resolveUnknownCommit(b *batch, unknown error) error {
	if len(b.records) == 0 {
		if len(b.newRequests) > 0 {
			return errNotCommitted // it can be repeated safely
		}
		return nil // there was nothing to commit
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.options.CommitTimeout)
	defer cancel()
	l.options.Logger.WarnContext(ctx, "a COMMIT was not answered, looking for its events",
		"tenant", b.tenant, "events", len(b.records), "error", unknown)
	backoff := database.Backoff{Shortest: 20 * time.Millisecond, Longest: time.Second}
	return backoff.Retry(ctx, func() (done bool, err error) {
		found, err := l.look(ctx, b)
		switch {
		case err != nil:
			return false, fmt.Errorf("%w; looking for it: %w", unknown, err)
		case found == len(b.records):
			return true, nil
		case found == 0:
			return true, errNotCommitted
		}
		return true, fmt.Errorf("only part of a transaction of tenant %s was committed, %d of %d events: %w",
			b.tenant, found, len(b.records), ErrHole)
	})
}

// look counts the batch's events in the log. It takes the tenant's lock first. The transaction in doubt held that
// lock, so it has ended by then.
func (l *Log) look(ctx context.Context, b *batch) (found int, err error) {
	ids := make([]string, len(b.records))
	for i, r := range b.records {
		ids[i] = r.EventID
	}
	looked := errors.New("looked")
	err = l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.LockTenant(ctx, tx, b.tenant); err != nil {
			return err
		}
		err := database.ForEach(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&found) }, `
			SELECT count(*)
			FROM events
			WHERE tenant = ? AND event_id IN (?)`, b.tenant, bun.List(ids))
		if err != nil {
			return err
		}
		return looked // nothing to commit
	})
	if errors.Is(err, looked) {
		err = nil
	}
	return found, err
}
