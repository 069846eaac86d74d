package events

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// batch is one attempt to decide and record commands in one transaction.
type batch struct {
	log      *Log
	inline   Inline
	tx       bun.IDB
	tenant   string
	commands []*command
	more     time.Duration // for what the commands bring: see [Options.CommitTimeout]
	locked   []func()      // end the spans of the wait for the lock; none if nobody traces

	head     head
	ids      ids
	now      time.Time
	requests map[requestKey]request // earlier requests, those of the batch included
	stage    Stage
	streams  *streams

	records     []Record
	erasures    []erasure // of those
	newRequests []request
}

// write does everything between BEGIN and COMMIT. On PostgreSQL, the log's lock, reads and writes share the round
// trips of the inline projection, whatever the number of commands.
//
// It turns a panic of a decision or of the inline projection into an error. The batch is rolled back, and its
// commands are tried one by one, so only the faulty command fails.
func (b *batch) write(ctx context.Context, tx bun.IDB) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			b.log.options.Logger.ErrorContext(ctx, "appending panicked",
				"tenant", b.tenant, "reason", reason, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	commands := make([]domain.Command, 0, len(b.commands))
	for _, c := range b.commands {
		commands = append(append(commands, c.Command), c.Then...)
	}
	b.tx = tx
	b.streams = newStreams(b.log.db.Engine, b.tenant, commands)
	if b.stage, err = b.inline.Load(ctx, tx, b.tenant, commands, b.readings()); err != nil {
		return fmt.Errorf("load inline projection: %w", err)
	}
	if err := b.streams.refresh(ctx, tx); err != nil {
		return err
	}
	b.log.kept.recall(b)
	b.ids.last = b.head.eventID
	b.now = b.log.options.Clock().UTC().Truncate(time.Microsecond)
	if b.now.Before(b.head.recordedAt) {
		b.now = b.head.recordedAt
	}
	for _, c := range b.commands {
		if err := b.decide(ctx, c); err != nil {
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

// holds notes that the lock is held. rows is nil on SQLite, whose file no other process can migrate.
func (b *batch) holds(rows *sql.Rows) error {
	for _, end := range b.locked {
		end()
	}
	if rows == nil {
		return nil
	}
	return b.log.locked(rows)
}

// readings take the tenant's lock and then read the head and earlier requests.
//
// These must be separate statements, because each sees what was committed when it began. The statements after the
// first begin when the lock is held. A single statement would see the head from before the wait, and its position
// would be assigned twice. On SQLite, the transaction has held the lock since BEGIN IMMEDIATE.
func (b *batch) readings() database.Batch {
	db := b.log.db
	var readings database.Batch
	read := func(each func(*sql.Rows) error, query string, args ...any) {
		readings = append(readings, database.Query{SQL: query, Values: args, Each: each})
	}
	if db.Engine == database.Postgres {
		lock, args := lockQuery(b.tenant, b.more)
		read(b.holds, lock, args...)
	} else if b.locked != nil {
		_ = b.holds(nil)
	}
	read(b.head.scan, headQuery, b.tenant)
	b.requests = map[requestKey]request{}
	var keys []requestKey
	for _, c := range b.commands {
		if c.Request != nil {
			keys = append(keys, keyOf(c.Submission))
		}
	}
	if len(keys) > 0 {
		query, args := requestsQuery(db.Engine, b.tenant, keys)
		read(func(rows *sql.Rows) error {
			var r request
			err := rows.Scan(&r.Subject, &r.Key, &r.Fingerprint, &r.Stream, &r.Version, &r.Position, &r.Outcome)
			b.requests[r.requestKey] = r
			return err
		}, query, args...)
	}
	if len(b.streams.names) > 0 {
		query, args := statesQuery(db.Engine, b.tenant, b.streams.names)
		read(b.streams.scan, query, args...)
	}
	return readings
}

// refusedLater is the refusal of one of [domain.Submission.Then]. It fails the batch, because what was decided before
// is folded already.
type refusedLater struct{ error }

func (r refusedLater) Unwrap() error { return r.error }

// decide sets a command's result, or finds the earlier request that it repeats. An error fails the batch; a refusal
// is a result.
func (b *batch) decide(ctx context.Context, c *command) error {
	c.result, c.earlier = domain.Result{}, nil
	if c.Request != nil {
		if earlier, known := b.requests[keyOf(c.Submission)]; known {
			if bytes.HasPrefix(recorded(c.Request.Fingerprint), earlier.Fingerprint) {
				c.earlier = &earlier
			} else {
				c.result.Err = domain.Refuse(domain.ErrKeyReused, "the idempotency key came with another request before").
					WithFix("use a new key for a new request")
			}
			return nil
		}
	}
	records, err := b.decideOn(ctx, c.By, c.Command)
	if err != nil {
		c.result.Err = err
		return nil
	}
	receipt, err := b.record(c.Submission, records)
	version := b.subject(c.Command.Stream()).version // also of the answer to a repeated request
	for _, command := range c.Then {
		if err != nil {
			return err
		}
		later := domain.Submission{Command: command, By: c.By, Origin: c.Origin}
		if len(receipt.Events) > 0 {
			later.Origin.CausationID = receipt.Events[0].EventID
		}
		if records, err = b.decideOn(ctx, c.By, command); err != nil {
			return refusedLater{err}
		}
		if len(records) > 0 {
			_, err = b.record(later, records)
			receipt.Position = b.head.position
		}
	}
	if err == nil && c.Request != nil {
		r := request{
			requestKey: keyOf(c.Submission), Fingerprint: recorded(c.Request.Fingerprint), Stream: c.Command.Stream(),
			Version: version, Position: receipt.Position, Outcome: receipt.Outcome,
		}
		b.requests[r.requestKey] = r
		b.newRequests = append(b.newRequests, r)
	}
	c.result.Receipt = receipt
	return err
}

// decideOn encodes the facts of a command before the first is applied: a fact that cannot be encoded refuses only this
// command.
func (b *batch) decideOn(ctx context.Context, by domain.Principal, command domain.Command) ([]Record, error) {
	facts, err := command.Decide(decisionContext{b.stage, b.streams, archive{b}}, b.now)
	if failed := b.streams.failed; failed != nil { // then the command saw streams as if they were empty
		err = Unavailable(failed)
	}
	if admission := b.log.options.Admission; err == nil && admission != nil {
		err = admission.Admit(ctx, b.tx, Decision{by, command, facts, b.stage, b.now})
	}
	records := make([]Record, len(facts))
	for i := 0; i < len(facts) && err == nil; i++ {
		err = records[i].encode(facts[i])
	}
	return records, err
}

// decisionContext implements [domain.DecisionContext] over the inline projection and the streams.
type decisionContext struct {
	Stage
	*streams
	archive
}

var _ domain.DecisionContext = decisionContext{}

// encode writes a fact into the record, with a fresh salt for its text.
func (r *Record) encode(fact domain.Fact) error {
	p, err := codec.Encode(fact)
	if err != nil {
		return err
	}
	r.Name, r.SchemaVersion, r.Data, r.Text = p.Name, p.SchemaVersion, p.Data, p.Text
	if r.Text != nil {
		r.Salt = make([]byte, saltSize)
		_, _ = rand.Read(r.Salt) // never fails, see crypto/rand
		r.TextCommitment = commitment(r.Salt, r.Text)
	}
	return nil
}

// record appends the facts of a command to the batch and folds them. It folds the decoded records, so that the state
// is the same as in every later reading of the log.
func (b *batch) record(c domain.Submission, records []Record) (domain.Receipt, error) {
	receipt := domain.Receipt{Outcome: domain.Unchanged}
	stream := c.Command.Stream()
	id, isItem := domain.ItemOf(stream)
	before := b.subject(stream)
	for i := range records {
		r := &records[i]
		b.stamp(r, c, i == 0)
		event, err := r.Event()
		if err == nil {
			err = b.stage.Apply(event)
		}
		if err == nil && !isItem {
			err = b.streams.apply(event)
		}
		if err != nil {
			return receipt, fmt.Errorf("apply %s to %s: %w", r.Name, r.Stream, err)
		}
		b.records = append(b.records, *r)
		b.noteErasure(event.Fact, *r)
		receipt.Events = append(receipt.Events, event)
	}
	if err := b.stage.Complete(); err != nil {
		return receipt, err
	}
	after := b.subject(stream)
	receipt.Position = after.position
	switch {
	case len(records) == 0:
	case before.version == 0 && isItem && b.stage.Knowledge(id).Status == domain.IsProposed:
		receipt.Outcome = domain.Proposed
	case before.version == 0:
		receipt.Outcome = domain.Created
	case after.revision > before.revision:
		receipt.Outcome = domain.Changed
	default:
		receipt.Outcome = domain.Recorded
	}
	if isItem {
		receipt.Knowledge = clone(b.stage.Knowledge(id).At(b.now))
	} else {
		receipt.Stream = b.streams.Stream(stream)
	}
	return receipt, nil
}

// streamHead is the version, revision and position of a stream's newest event.
type streamHead struct{ version, revision, position int64 }

func (b *batch) subject(stream string) streamHead {
	if id, isItem := domain.ItemOf(stream); isItem {
		k := b.stage.Knowledge(id)
		return streamHead{k.Version, k.Revision, k.Position}
	}
	s := b.streams.Stream(stream)
	return streamHead{version: s.Version, position: s.Position}
}

// clone is a copy of an item that later events do not change.
func clone(k *domain.Knowledge) *domain.Knowledge {
	c := *k
	c.Scopes = slices.Clone(k.Scopes)
	c.DerivedFrom = slices.Clone(k.DerivedFrom)
	c.Source.URLs = slices.Clone(k.Source.URLs)
	c.Baseline.HelpfulHistory = slices.Clone(k.Baseline.HelpfulHistory)
	c.Baseline.HarmfulHistory = slices.Clone(k.Baseline.HarmfulHistory)
	c.Text.Meta = slices.Clone(k.Text.Meta)
	c.Text.Tags = maps.Clone(k.Text.Tags)
	for key, values := range c.Text.Tags {
		c.Text.Tags[key] = slices.Clone(values)
	}
	c.Relations = slices.Clone(k.Relations)
	c.Votes = maps.Clone(k.Votes)
	c.Reports = maps.Clone(k.Reports)
	return &c
}

// inserts are the statements that write the batch's rows; empty if there are none.
func (b *batch) inserts() (*database.Script, error) {
	events, texts := make([][]any, 0, len(b.records)), make([][]any, 0, len(b.records))
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
	requests := make([][]any, 0, len(b.newRequests))
	for _, r := range b.newRequests {
		requests = append(requests, []any{
			b.tenant, r.Subject, r.Key, r.Fingerprint, r.Stream, r.Version, r.Position, r.Outcome,
			database.At(b.now),
		})
	}
	states := make([][]any, 0, len(b.streams.changed))
	for _, name := range slices.Sorted(maps.Keys(b.streams.changed)) {
		stream := b.streams.known[name]
		state, err := codec.Marshal(stream.State)
		if err != nil {
			return nil, fmt.Errorf("keep %s: %w", name, err)
		}
		states = append(states,
			[]any{b.tenant, name, stream.Version, stream.Position, kindOfStream(name).Form, string(state)})
	}
	script, engine := &database.Script{}, b.log.db.Engine
	script.Insert(engine, "events ("+eventColumns+")", "", events)
	script.Insert(engine, `event_texts (tenant, position, salt, text)`, "", texts)
	script.Insert(engine, `requests (
		tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at)`, "", requests)
	script.Insert(engine, `streams (tenant, stream, version, position, form, state)`, `
		ON CONFLICT (tenant, stream) DO UPDATE
		SET version = excluded.version, position = excluded.position, form = excluded.form, state = excluded.state`, states)
	if len(b.erasures) > 0 {
		script.Text = b.destruction(script.Text)
	}
	return script, nil
}
