package events

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// batch is what one transaction decides and records. Its life is one attempt: the commands see
// nothing of it before [batch.answer].
type batch struct {
	log      *Log
	inline   Inline
	tenant   string
	commands []*command

	head     head
	ids      ids
	now      time.Time
	requests map[requestKey]request // made before, by earlier commands of the batch too
	stage    Stage
	streams  *streams
	outcomes []outcome // of each command

	records     []Record
	erasures    []erasure // of those
	newRequests []request
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

// write does everything between BEGIN and COMMIT. On PostgreSQL, whatever the number of commands, it
// costs what the inline projection needs to open and to flush: the log's own lock, reading and writing
// go with that.
func (b *batch) write(ctx context.Context, tx bun.IDB) error {
	commands := make([]domain.Command, len(b.commands))
	for i, c := range b.commands {
		commands[i] = c.Command
	}
	var err error
	b.streams = newStreams(b.log.db.Engine, b.tenant, commands)
	if b.stage, err = b.inline.Load(ctx, tx, b.tenant, commands, b.readings()); err != nil {
		return fmt.Errorf("load inline projection: %w", err)
	}
	if err := b.streams.refresh(ctx, tx); err != nil {
		return err
	}
	b.ids.last = b.head.eventID
	b.now = later(b.log.options.Clock().UTC().Truncate(time.Microsecond), b.head.recordedAt)
	b.outcomes = make([]outcome, len(b.commands))
	for i, c := range b.commands {
		if b.outcomes[i], err = b.decide(c); err != nil {
			return err
		}
	}
	inserts, err := b.inserts()
	switch {
	case err != nil:
		return err
	case len(b.records) > 0:
		if err := b.stage.Save(ctx, inserts); err != nil {
			return fmt.Errorf("save inline projection: %w", err)
		}
	default:
		if err := inserts.Finish(ctx, tx); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	return nil
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

const insertEvents = `events (
	tenant, position, event_id, stream, version, name, schema_version,
	recorded_at, occurred_at, actor, on_behalf_of, authentication,
	request_id, correlation_id, causation_id, traceparent, reason_code,
	data, text_commitment, hash)`

const insertTexts = `event_texts (tenant, position, salt, text)`

const insertRequests = `requests (
	tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at)`

// inserts are the statements that write the batch's rows; empty if there are none.
func (b *batch) inserts() (*database.Script, error) {
	events, texts := make([][]any, 0, len(b.records)), make([][]any, 0, len(b.records))
	requests := make([][]any, 0, len(b.newRequests))
	for _, r := range b.records {
		events = append(events, []any{
			r.Tenant, r.Position, r.EventID, r.Stream, r.Version, r.Name, r.SchemaVersion,
			r.RecordedAt, r.OccurredAt, r.Actor, r.OnBehalfOf, r.Authentication,
			r.RequestID, r.CorrelationID, r.CausationID, r.Traceparent, r.ReasonCode,
			string(r.Data), r.TextCommitment, r.Hash,
		})
		if r.Text != nil {
			texts = append(texts, []any{r.Tenant, r.Position, r.Salt, string(r.Text)})
		}
	}
	for _, r := range b.newRequests {
		requests = append(requests, []any{
			b.tenant, r.Subject, r.Key, r.Fingerprint, r.Stream, r.Version, r.Position, r.Outcome,
			database.At(b.now),
		})
	}
	streams, err := b.streams.rows()
	if err != nil {
		return nil, err
	}
	statements := &database.Script{}
	for _, part := range []struct {
		into, then string
		rows       [][]any
	}{
		{insertEvents, "", events},
		{insertTexts, "", texts},
		{insertRequests, "", requests},
		{insertStreams, updateStreams, streams},
	} {
		statements.Insert(b.log.db.Engine, part.into, part.then, part.rows)
	}
	statements.Text = b.destruction(statements.Text)
	return statements, nil
}
