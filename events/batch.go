package events

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// batch is what one transaction decides and records. Its life is one attempt: the commands see
// nothing of it before [batch.answer].
type batch struct {
	log      *Log
	tenant   string
	commands []*command

	head     head
	ids      ids
	now      time.Time
	requests map[requestKey]request // made before, by earlier commands of the batch too
	stage    Stage
	outcomes []outcome // of each command

	records   []Record
	newcomers []request
}

// writeSafely turns a panic, of a decision or of the inline projection, into an error: it undoes the
// batch, and in the end only the command that caused it fails.
func (b *batch) writeSafely(ctx context.Context, tx bun.Tx) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			b.log.options.Logger.ErrorContext(ctx, "appending panicked",
				"tenant", b.tenant, "reason", reason, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return b.write(ctx, tx)
}

// write does everything between BEGIN and COMMIT. On PostgreSQL it costs, whatever the number of
// commands, besides BEGIN and COMMIT: one round trip for the lock, the head and the requests, one
// for the inserts, and those of the inline projection to open and to flush.
func (b *batch) write(ctx context.Context, tx bun.Tx) error {
	if err := b.lock(ctx, tx); err != nil {
		return fmt.Errorf("lock tenant: %w", err)
	}
	b.now = later(b.log.options.Clock().UTC().Truncate(time.Microsecond), b.head.recordedAt)
	if err := b.open(ctx, tx); err != nil {
		return fmt.Errorf("open inline projection: %w", err)
	}
	b.outcomes = make([]outcome, len(b.commands))
	for i, c := range b.commands {
		var err error
		if b.outcomes[i], err = b.decide(c); err != nil {
			return err
		}
	}
	if err := b.insert(ctx, tx); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	if len(b.records) == 0 {
		return nil
	}
	if err := b.stage.Flush(ctx); err != nil {
		return fmt.Errorf("flush inline projection: %w", err)
	}
	return nil
}

// open loads what those commands read that were not answered before.
func (b *batch) open(ctx context.Context, tx bun.Tx) error {
	var commands []domain.Command
	for _, c := range b.commands {
		if c.Request != nil {
			if _, known := b.requests[keyOf(c.Submission)]; known {
				continue
			}
		}
		commands = append(commands, c.Command)
	}
	if len(commands) == 0 {
		return nil
	}
	var err error
	b.stage, err = b.log.inline.Open(ctx, tx, b.tenant, commands)
	return err
}

// answer gives every command its result, after the commit.
func (b *batch) answer() {
	for i, o := range b.outcomes {
		b.commands[i].result, b.commands[i].earlier = o.result, o.earlier
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
