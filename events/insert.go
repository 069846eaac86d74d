package events

import (
	"github.com/annals-kb/annals/database"
)

const insertEvents = `events (
	tenant, position, event_id, stream, version, name, schema_version,
	recorded_at, occurred_at, actor, on_behalf_of, authentication,
	request_id, correlation_id, causation_id, traceparent, reason_code,
	data, text_commitment, hash)
VALUES `

const insertTexts = `event_texts (tenant, position, salt, text)
VALUES `

const insertRequests = `requests (
	tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at)
VALUES `

// inserts are the statements that write the batch's rows; empty if there are none.
func (b *batch) inserts() (string, error) {
	var events, texts, requests [][]any
	size := 0
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
		size += len(r.Data) + len(r.Text) + 1<<10
	}
	for _, r := range b.newcomers {
		requests = append(requests, []any{
			b.tenant, r.Subject, r.Key, r.Fingerprint, r.Stream, r.Version, r.Position, r.Outcome,
			database.At(b.now),
		})
	}
	streams, err := b.streams.rows()
	if err != nil {
		return "", err
	}
	statements := make([]byte, 0, size)
	for _, part := range []struct {
		into, then string
		rows       [][]any
	}{
		{insertEvents, "", events},
		{insertTexts, "", texts},
		{insertRequests, "", requests},
		{insertStreams, updateStreams, streams},
	} {
		for i, row := range part.rows {
			if i == 0 {
				statements = append(statements, database.Insertion(b.log.db.Engine)+part.into...)
			} else {
				statements = append(statements, ",\n"...)
			}
			statements = database.AppendRow(statements, b.log.db.Engine, row)
		}
		if len(part.rows) > 0 {
			statements = append(statements, part.then...)
			statements = append(statements, ";\n"...)
		}
	}
	return string(b.destruction(statements)), nil
}
