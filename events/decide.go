package events

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// outcome is a command's result, or the earlier request that it repeats.
type outcome struct {
	result  domain.Result
	earlier *request
}

// decide finds a command's outcome. An error spoils the batch; a refusal is an outcome.
func (b *batch) decide(c *command) (outcome, error) {
	if c.Request != nil {
		if earlier, known := b.requests[keyOf(c.Submission)]; known {
			return again(c, earlier), nil
		}
	}
	facts, err := b.facts(c)
	if err != nil {
		return outcome{result: domain.Result{Err: err}}, nil
	}
	receipt, err := b.record(c, facts)
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
	if !bytes.HasPrefix(recorded(c.Request.Fingerprint), earlier.Fingerprint) {
		err := domain.Refuse(domain.ErrKeyReused, "the idempotency key came with another request before").
			WithFix("use a new key for a new request")
		return outcome{result: domain.Result{Err: err}}
	}
	return outcome{earlier: &earlier}
}

// facts are a command's decision, written down; the error is its refusal.
func (b *batch) facts(c *command) ([]written, error) {
	facts, err := c.Command.Decide(decisionContext{b.stage, b.streams, archive{b}}, b.now)
	if err != nil {
		return nil, err
	}
	if b.streams.failed != nil {
		return nil, b.streams.failed
	}
	all := make([]written, len(facts))
	for i, fact := range facts {
		if all[i], err = write(fact); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// decisionContext is what commands look up: items in the inline projection, and everything else among the streams.
type decisionContext struct {
	Stage
	*streams
	archive
}

var _ domain.DecisionContext = decisionContext{}

// record appends a command's facts to the batch, and folds them in.
func (b *batch) record(c *command, facts []written) (domain.Receipt, error) {
	before := b.subject(c.Command.Stream())
	receipt := domain.Receipt{Outcome: domain.Unchanged}
	for i, w := range facts {
		record := b.stamp(c, w, i == 0)
		event := record.of(w.fact)
		if err := b.apply(event, w.Payload); err != nil {
			return receipt, fmt.Errorf("apply %s to %s: %w", event.Name, event.Stream, err)
		}
		b.records = append(b.records, record)
		b.noteErasure(event.Fact, record)
		receipt.Events = append(receipt.Events, event)
	}
	if err := b.stage.Complete(); err != nil {
		return receipt, err
	}
	after := b.subject(c.Command.Stream())
	receipt.Position = after.position
	switch {
	case len(facts) == 0:
	case before.version == 0:
		receipt.Outcome = domain.Created
	case after.revision > before.revision:
		receipt.Outcome = domain.Changed
	default:
		receipt.Outcome = domain.Recorded
	}
	if id, isItem := domain.ItemOf(c.Command.Stream()); isItem {
		receipt.Knowledge = clone(b.stage.Knowledge(id).At(b.now))
	} else {
		receipt.Stream = b.streams.Stream(c.Command.Stream())
	}
	return receipt, nil
}

// streamHead is how far the stream has come that a command is about.
type streamHead struct{ version, revision, position int64 }

func (b *batch) subject(stream string) streamHead {
	if id, isItem := domain.ItemOf(stream); isItem {
		k := b.stage.Knowledge(id)
		return streamHead{k.Version, k.Revision, k.Position}
	}
	s := b.streams.Stream(stream)
	return streamHead{version: s.Version, position: s.Position}
}

// apply folds an event into whatever keeps its stream.
func (b *batch) apply(event domain.Event, p codec.Payload) error {
	if err := b.stage.Apply(event); err != nil {
		return err
	}
	if _, isItem := domain.ItemOf(event.Stream); isItem {
		return nil
	}
	p.Text = nil
	plain, err := codec.Decode(p)
	if err != nil {
		return err
	}
	return b.streams.apply(event, plain)
}

// stamp gives a fact its place in the log.
func (b *batch) stamp(c *command, w written, first bool) Record {
	id := b.ids.next(b.now, first)
	stream := c.Command.Stream()
	b.head.position++
	r := Record{
		Tenant: b.tenant, Position: b.head.position, EventID: id.String(),
		Stream: stream, Version: b.subject(stream).version + 1,
		Name: w.Name, SchemaVersion: w.SchemaVersion,
		RecordedAt: database.At(b.now), OccurredAt: database.At(c.Origin.OccurredAt),
		Actor: string(c.By.Subject), OnBehalfOf: orAbsent(c.By.OnBehalfOf),
		Authentication: c.By.Authentication,
		RequestID:      orAbsent(c.Origin.RequestID), CorrelationID: orAbsent(c.Origin.CorrelationID),
		CausationID: orAbsent(c.Origin.CausationID), Traceparent: orAbsent(c.Origin.Traceparent),
		ReasonCode: orAbsent(c.Origin.ReasonCode),
		Data:       w.Data, TextCommitment: w.commitment, Salt: w.salt, Text: w.Text,
	}
	r.Hash = r.hash()
	return r
}

// remember notes what a request is to be answered with when it comes again.
func (b *batch) remember(c *command, receipt domain.Receipt) {
	r := request{
		requestKey: keyOf(c.Submission), Fingerprint: recorded(c.Request.Fingerprint),
		Stream: c.Command.Stream(), Version: b.subject(c.Command.Stream()).version,
		Position: receipt.Position, Outcome: receipt.Outcome,
	}
	b.requests[r.requestKey] = r
	b.newRequests = append(b.newRequests, r)
}

// written is a fact written down: the bytes that are recorded, and the fact as it is read back from them,
// so that what is folded now is what is folded whenever the log is read.
type written struct {
	codec.Payload
	fact             domain.Fact
	salt, commitment []byte // nil without a text
}

func write(fact domain.Fact) (w written, err error) {
	if w.Payload, err = codec.Encode(fact); err != nil {
		return w, err
	}
	if w.fact, err = codec.Decode(w.Payload); err != nil {
		return w, err
	}
	if w.Text != nil {
		w.salt, w.commitment = commitText(w.Text)
	}
	return w, nil
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
