package events

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// PageSize is the default number of events in a page.
const PageSize = 500

// Reader reads the log: pages, streams, states and single facts.
type Reader struct {
	Snapshot Snapshot // each of its reads is one of its own

	db      *database.DB
	inline  Inline
	options Options
}

// Records reads up to limit undecoded records of a tenant after a position, oldest first; limit 0 means 500. The
// error matches [ErrHole] if one is missing. It does not verify them: see [Record.Fault].
func (l *Reader) Records(ctx context.Context, tenant string, after int64, limit int) ([]Record, error) {
	if limit <= 0 {
		limit = PageSize
	}
	var records []Record
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		record, err := scanRecord(rows)
		records = append(records, record)
		return err
	}, `
		SELECT `+recordColumns+`
		FROM `+recordTables+`
		WHERE e.tenant = ? AND e.position > ?
		ORDER BY e.position
		LIMIT ?`, tenant, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", Unavailable(err))
	}
	for i, record := range records {
		if want := after + 1 + int64(i); record.Position != want {
			return nil, holeError{tenant: tenant, missing: want}
		}
	}
	return records, nil
}

// Read is [Reader.Records] decoded.
func (l *Reader) Read(ctx context.Context, tenant string, after int64, limit int) ([]domain.Event, error) {
	records, err := l.Records(ctx, tenant, after, limit)
	if err != nil {
		return nil, err
	}
	events := make([]domain.Event, len(records))
	for i, record := range records {
		if events[i], err = record.Event(); err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
	}
	return events, nil
}

// Envelopes reads up to limit events of a tenant after a position, with only their position, id, stream, name and
// hash. These can be read even if a fact cannot be decoded. The error matches [ErrHole] if one is missing.
func (l *Reader) Envelopes(
	ctx context.Context, tenant string, after int64, limit int,
) (page []domain.Event, err error) {
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		e := domain.Event{Tenant: tenant}
		if err := rows.Scan(&e.Position, &e.EventID, &e.Stream, &e.Name, &e.Hash); err != nil {
			return err
		}
		page = append(page, e)
		if want := after + int64(len(page)); e.Position != want {
			return holeError{tenant: tenant, missing: want}
		}
		return nil
	}, `
		SELECT position, event_id, stream, name, hash
		FROM events
		WHERE tenant = ? AND position > ?
		ORDER BY position
		LIMIT ?`, tenant, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", Unavailable(err))
	}
	return page, nil
}

// Head is the newest position of a tenant's log and the id of the event there; 0 and empty if the log is empty.
func (l *Reader) Head(ctx context.Context, tenant string) (position int64, eventID string, err error) {
	var h head
	if err := database.ForEach(ctx, l.db, h.scan, headQuery, tenant); err != nil {
		return 0, "", fmt.Errorf("read head: %w", Unavailable(err))
	}
	if h.position == 0 {
		return 0, "", nil
	}
	return h.position, uuid.UUID(h.eventID).String(), nil
}

// Tenants lists the tenants that have a log, in order. It skips from one to the next in the primary key's index, so
// it costs one look-up per tenant, however long the logs are.
func (l *Reader) Tenants(ctx context.Context) ([]string, error) {
	var tenants []string
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		tenants = append(tenants, tenant)
		return err
	}, tenantsQuery+` SELECT tenant FROM tenants WHERE tenant IS NOT NULL ORDER BY tenant`)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", Unavailable(err))
	}
	return tenants, nil
}

const tenantsQuery = `
	WITH RECURSIVE tenants (tenant) AS (
		SELECT (SELECT tenant FROM events ORDER BY tenant LIMIT 1)
		UNION ALL
		SELECT (SELECT tenant FROM events WHERE tenant > t.tenant ORDER BY tenant LIMIT 1)
		FROM tenants AS t
		WHERE t.tenant IS NOT NULL
	)`

// Stream reads every event of one stream, oldest first. The error matches [ErrHole] if one is missing.
func (l *Reader) Stream(ctx context.Context, tenant, stream string) ([]domain.Event, error) {
	events, err := queryEvents(ctx, l.db, `
		WHERE e.tenant = ? AND e.stream = ?
		ORDER BY e.version`, tenant, stream)
	if err != nil {
		return nil, fmt.Errorf("read stream: %w", Unavailable(err))
	}
	for i, event := range events {
		if event.Version != int64(i)+1 {
			return nil, holeError{tenant: tenant, stream: stream, missing: int64(i) + 1}
		}
	}
	return events, nil
}

// StreamRecords reads the undecoded records of a stream up to a version, oldest first. It does not verify them: see
// [Record.Fault].
func (l *Reader) StreamRecords(ctx context.Context, tenant, stream string, upTo int64) (all []Record, err error) {
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		record, err := scanRecord(rows)
		all = append(all, record)
		return err
	}, `
		SELECT `+recordColumns+`
		FROM `+recordTables+`
		WHERE e.tenant = ? AND e.stream = ? AND e.version <= ?
		ORDER BY e.version`, tenant, stream, upTo)
	if err != nil {
		return nil, fmt.Errorf("read stream: %w", Unavailable(err))
	}
	return all, nil
}

// StreamPart reads up to limit events of a stream within a range of positions.
func (l *Reader) StreamPart(
	ctx context.Context, tenant, stream string, from, to int64, limit int,
) ([]domain.Event, error) {
	return queryEvents(ctx, l.db, `
		WHERE e.tenant = ? AND e.stream = ? AND e.position BETWEEN ? AND ?
		ORDER BY e.version
		LIMIT ?`, tenant, stream, from, to, limit)
}

// eventColumns are the columns of the table of events, in the order in which they are written and read.
const eventColumns = "tenant, position, event_id, stream, version, name, schema_version, recorded_at, occurred_at, " +
	"actor, on_behalf_of, authentication, request_id, correlation_id, causation_id, traceparent, reason_code, data, " +
	"text_commitment, hash"

// recordColumns are what [scanRecord] reads, from the tables [recordTables].
var recordColumns = "e." + strings.ReplaceAll(eventColumns, ", ", ", e.") + ", t.salt, t.text, " + replacementText

const recordTables = `
	events AS e
	LEFT JOIN event_texts AS t ON e.text_commitment IS NOT NULL AND t.tenant = e.tenant AND t.position = e.position`

// replacementText is the replacement for a destroyed text, from the event of its redaction. It is looked up only for
// redacted texts.
const replacementText = `
	CASE WHEN t.text IS NULL AND e.text_commitment IS NOT NULL THEN (
		SELECT x.text
		FROM destroyed_texts AS d
		JOIN event_texts AS x ON x.tenant = d.tenant AND x.position = d.said_at
		WHERE d.tenant = e.tenant AND d.position = e.position
	) END`

// currentText is the text of an event after its redactions.
const currentText = `coalesce(t.text, ` + replacementText + `)`

func scanRecord(rows *sql.Rows) (r Record, err error) {
	err = rows.Scan(&r.Tenant, &r.Position, &r.EventID, &r.Stream, &r.Version, &r.Name, &r.SchemaVersion,
		&r.RecordedAt, &r.OccurredAt, &r.Actor, &r.OnBehalfOf, &r.Authentication,
		&r.RequestID, &r.CorrelationID, &r.CausationID, &r.Traceparent, &r.ReasonCode,
		&r.Data, &r.TextCommitment, &r.Hash, &r.Salt, &r.Text, &r.Redacted)
	return r, err
}

// queryEvents reads and decodes the events that a selection names: SQL from WHERE on.
func queryEvents(ctx context.Context, db database.Querier, selection string, args ...any) ([]domain.Event, error) {
	var events []domain.Event
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		record, err := scanRecord(rows)
		if err != nil {
			return err
		}
		event, err := record.Event()
		if err != nil {
			return err
		}
		events = append(events, event)
		return nil
	}, `SELECT `+recordColumns+` FROM `+recordTables+selection, args...)
	return events, err
}
