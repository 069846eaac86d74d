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

// outcome is a command's result, or the earlier request that it repeats.
type outcome struct {
	result  domain.Result
	earlier *request
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

// decide finds a command's outcome. An error spoils the batch; a refusal is an outcome.
func (b *batch) decide(c *command) (outcome, error) {
	if c.Request != nil {
		if earlier, known := b.requests[keyOf(c.Submission)]; known {
			return again(c, earlier), nil
		}
	}
	payloads, err := b.facts(c)
	if err != nil {
		return outcome{result: domain.Result{Err: err}}, nil
	}
	receipt, err := b.record(c, payloads)
	if err != nil {
		return outcome{}, err
	}
	if c.Request != nil {
		b.remember(c, receipt)
	}
	return outcome{result: domain.Result{Receipt: receipt}}, nil
}

// again is the outcome of a request whose key came before.
func again(c *command, earlier request) outcome {
	if string(earlier.Fingerprint) != string(c.Request.Fingerprint[:]) {
		err := domain.Refuse(domain.ErrKeyReused, "the idempotency key came with another request before").
			WithFix("use a new key for a new request")
		return outcome{result: domain.Result{Err: err}}
	}
	return outcome{earlier: &earlier}
}

// facts are a command's decision, written down; the error is its refusal.
func (b *batch) facts(c *command) ([]Payload, error) {
	facts, err := c.Command.Decide(b.stage, b.now)
	if err != nil {
		return nil, err
	}
	payloads := make([]Payload, 0, len(facts))
	for _, fact := range facts {
		payload, err := Encode(fact)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, payload)
	}
	return payloads, nil
}

// record appends a command's facts to the batch, and folds them in.
func (b *batch) record(c *command, payloads []Payload) (domain.Receipt, error) {
	id := c.Command.Item()
	revision := b.stage.Knowledge(id).Revision
	receipt := domain.Receipt{Outcome: domain.Unchanged}
	for i, payload := range payloads {
		record := b.stamp(c, payload, i == 0)
		event, err := record.event()
		if err != nil {
			return receipt, err
		}
		if err := b.stage.Apply(event); err != nil {
			return receipt, fmt.Errorf("apply %s to %s: %w", event.Name, event.Stream, err)
		}
		b.records = append(b.records, record)
		receipt.Events = append(receipt.Events, event)
	}
	k := clone(b.stage.Knowledge(id))
	receipt.Knowledge, receipt.Position = k, k.Position
	switch {
	case len(payloads) == 0:
	case payloads[0].Name == domain.Remembered{}.Name():
		receipt.Outcome = domain.Created
	case k.Revision > revision:
		receipt.Outcome = domain.Changed
	default:
		receipt.Outcome = domain.Recorded
	}
	return receipt, nil
}

// stamp gives a fact its place in the log.
func (b *batch) stamp(c *command, p Payload, first bool) Record {
	id := b.ids.next(b.now, first)
	item := c.Command.Item()
	b.head.position++
	r := Record{
		Tenant: b.tenant, Position: b.head.position, EventID: id.String(),
		Stream: domain.KnowledgeStream(item), Version: b.stage.Knowledge(item).Version + 1,
		Name: p.Name, SchemaVersion: p.SchemaVersion,
		RecordedAt: database.At(b.now), OccurredAt: database.At(c.Origin.OccurredAt),
		Actor: string(c.By.Subject), OnBehalfOf: orAbsent(c.By.OnBehalfOf),
		Authentication: c.By.Authentication,
		RequestID:      orAbsent(c.Origin.RequestID), CorrelationID: orAbsent(c.Origin.CorrelationID),
		CausationID: orAbsent(c.Origin.CausationID), Traceparent: orAbsent(c.Origin.Traceparent),
		ReasonCode: orAbsent(c.Origin.ReasonCode),
		Data:       p.Data, Text: p.Text,
	}
	if p.Text != nil {
		r.Salt, r.TextCommitment = seal(p.Text)
	}
	r.Hash = r.hash()
	return r
}

// remember notes what a request is to be answered with when it comes again.
func (b *batch) remember(c *command, receipt domain.Receipt) {
	r := request{
		requestKey: keyOf(c.Submission), Fingerprint: c.Request.Fingerprint[:],
		Stream:  domain.KnowledgeStream(c.Command.Item()),
		Version: receipt.Knowledge.Version, Position: receipt.Position, Outcome: receipt.Outcome,
	}
	b.requests[r.requestKey] = r
	b.newcomers = append(b.newcomers, r)
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
