package events

import (
	"context"
	"database/sql"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// recordColumns are what [scanRecord] reads, from the tables [recordTables].
const recordColumns = `
	e.tenant, e.position, e.event_id, e.stream, e.version, e.name, e.schema_version,
	e.recorded_at, e.occurred_at, e.actor, e.on_behalf_of, e.authentication,
	e.request_id, e.correlation_id, e.causation_id, e.traceparent, e.reason_code,
	e.data, e.text_commitment, e.hash, t.salt, t.text, ` + replacementText

const recordTables = `
	events AS e
	LEFT JOIN event_texts AS t ON e.text_commitment IS NOT NULL AND t.tenant = e.tenant AND t.position = e.position`

// replacementText is what stands for a text that was destroyed: the text beside the redaction, if it was one. It is
// looked up for no other event.
const replacementText = `
	CASE WHEN t.text IS NULL AND e.text_commitment IS NOT NULL THEN (
		SELECT x.text
		FROM destroyed_texts AS d
		JOIN event_texts AS x ON x.tenant = d.tenant AND x.position = d.said_at
		WHERE d.tenant = e.tenant AND d.position = e.position
	) END`

// currentText is the text of an event as it is read by now.
const currentText = `coalesce(t.text, ` + replacementText + `)`

func scanRecord(rows *sql.Rows) (Record, error) {
	var r Record
	err := rows.Scan(&r.Tenant, &r.Position, &r.EventID, &r.Stream, &r.Version, &r.Name, &r.SchemaVersion,
		&r.RecordedAt, &r.OccurredAt, &r.Actor, &r.OnBehalfOf, &r.Authentication,
		&r.RequestID, &r.CorrelationID, &r.CausationID, &r.Traceparent, &r.ReasonCode,
		&r.Data, &r.TextCommitment, &r.Hash, &r.Salt, &r.Text, &r.Redacted)
	return r, err
}

// queryEvents reads records with a query over recordColumns and decodes them.
func queryEvents(ctx context.Context, db database.Querier, query string, args ...any) ([]domain.Event, error) {
	var events []domain.Event
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		record, err := scanRecord(rows)
		if err != nil {
			return err
		}
		event, err := record.event()
		if err != nil {
			return err
		}
		events = append(events, event)
		return nil
	}, query, args...)
	return events, err
}
