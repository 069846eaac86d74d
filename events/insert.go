package events

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

const insertEvents = `
	INSERT INTO events (
		tenant, position, event_id, stream, version, name, schema_version,
		recorded_at, occurred_at, actor, on_behalf_of, authentication,
		request_id, correlation_id, causation_id, traceparent, reason_code,
		data, text_commitment, hash)
	VALUES ?`

const insertTexts = `
	INSERT INTO event_texts (tenant, position, salt, text)
	VALUES ?`

const insertRequests = `
	INSERT INTO requests (
		tenant, subject, key, fingerprint, stream, version, position, outcome, recorded_at)
	VALUES ?`

// insert writes the batch's rows, on PostgreSQL in one round trip.
func (b *batch) insert(ctx context.Context, tx bun.Tx) error {
	var events, texts, requests []bun.TupleValues
	for _, r := range b.records {
		events = append(events, bun.Tuple([]any{
			r.Tenant, r.Position, r.EventID, r.Stream, r.Version, r.Name, r.SchemaVersion,
			r.RecordedAt, r.OccurredAt, r.Actor, r.OnBehalfOf, r.Authentication,
			r.RequestID, r.CorrelationID, r.CausationID, r.Traceparent, r.ReasonCode,
			string(r.Data), r.TextCommitment, r.Hash,
		}))
		if r.Text != nil {
			texts = append(texts, bun.Tuple([]any{r.Tenant, r.Position, r.Salt, string(r.Text)}))
		}
	}
	for _, r := range b.newcomers {
		requests = append(requests, bun.Tuple([]any{
			b.tenant, r.Subject, r.Key, r.Fingerprint, r.Stream, r.Version, r.Position, r.Outcome,
			database.At(b.now),
		}))
	}
	var statements strings.Builder
	var args []any
	for _, part := range []struct {
		statement string
		rows      []bun.TupleValues
	}{{insertEvents, events}, {insertTexts, texts}, {insertRequests, requests}} {
		if len(part.rows) > 0 {
			statements.WriteString(part.statement + ";")
			args = append(args, bun.List(part.rows))
		}
	}
	if len(args) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, statements.String(), args...)
	return err
}
