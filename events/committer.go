package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// attempts is how often a command is tried alone after its batch has failed.
const attempts = 3

// commitAll writes what waits in a tenant's queue until it is empty. A command that finds the queue
// empty is written at once; those that come meanwhile are written together.
func (l *Log) commitAll(tenant string, q *lane) {
	for {
		groups := l.take(tenant, q)
		if len(groups) == 0 {
			return
		}
		var commands []*command
		for _, g := range groups {
			commands = append(commands, g.commands...)
		}
		l.commit(tenant, commands)
		for _, g := range groups {
			close(g.done)
		}
	}
}

// commit gives every command its result: all in one transaction, or each in one of its own.
func (l *Log) commit(tenant string, commands []*command) {
	err := l.append(tenant, commands)
	if err == nil {
		return
	}
	if isPassing(err) || l.ctx.Err() != nil {
		l.options.Logger.ErrorContext(l.ctx, "commands could not be written",
			"tenant", tenant, "commands", len(commands), "error", err)
		for _, c := range commands {
			c.result = domain.Result{Err: fmt.Errorf("%w: %w", domain.ErrUnavailable, err)}
		}
		return
	}
	l.options.Logger.WarnContext(l.ctx, "a batch failed, each of its commands is tried alone",
		"tenant", tenant, "commands", len(commands), "error", err)
	for _, c := range commands {
		for range attempts {
			if err = l.append(tenant, []*command{c}); err == nil || isPassing(err) {
				break
			}
		}
		if err != nil {
			c.result = domain.Result{Err: fmt.Errorf("record %s: %w", c.Command.Item(), unavailable(err))}
		}
	}
}

// append decides commands and records what follows, in one transaction. Without an error every
// command has its result, and what was recorded is committed. With one, certainly nothing was
// recorded, unless it matches database.ErrOutcomeUnknown.
func (l *Log) append(tenant string, commands []*command) error {
	ctx, cancel := context.WithTimeout(l.ctx, l.options.Patience)
	defer cancel()
	began := time.Now()
	b := &batch{log: l, tenant: tenant, commands: commands}
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return b.write(ctx, tx) })
	l.metrics.commit.Observe(time.Since(began).Seconds())
	l.metrics.batch.Observe(float64(len(commands)))
	if errors.Is(err, database.ErrOutcomeUnknown) {
		err = l.findOut(b, err)
	}
	if err != nil {
		return err
	}
	b.answer()
	if len(b.records) > 0 {
		l.news.tell(tenant)
	}
	return nil
}
