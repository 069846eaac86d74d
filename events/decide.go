package events

import (
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
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
