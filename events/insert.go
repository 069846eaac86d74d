package events

import (
	"github.com/annals-kb/annals/database"
)

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
