package events

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Slice is a range of one tenant's streams in byte order, after After, up to and including Through.
type Slice struct {
	Tenant  string
	After   string // excluded
	Through string
	Streams int
}

// NextSlice is the range of at most size streams of a kind ("knowledge:") after a stream, or from the first if after
// is empty. It returns false if there is none.
func (at Snapshot) NextSlice(ctx context.Context, tenant, kind, after string, size int) (Slice, bool, error) {
	s := Slice{Tenant: tenant, After: max(after, kind)} // skips streams of kinds that sort before this one
	// A stream has one event of version 1.
	err := database.ForEach(ctx, at.db, func(rows *sql.Rows) error { return rows.Scan(&s.Streams, &s.Through) }, `
		SELECT count(*), coalesce(max(stream), '')
		FROM (
			SELECT stream
			FROM events
			WHERE tenant = ? AND stream > ? AND stream < ? AND version = 1
			ORDER BY stream
			LIMIT ?
		) AS next`, tenant, s.After, successor(kind), size)
	if err != nil {
		return s, false, fmt.Errorf("slice log: %w", Unavailable(err))
	}
	return s, s.Streams > 0, nil
}

// Count is the number of events in the streams of a kind ("knowledge:").
func (l *Reader) Count(ctx context.Context, tenant, kind string) (n int64, err error) {
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error { return rows.Scan(&n) }, `
		SELECT count(*)
		FROM events
		WHERE tenant = ? AND stream > ? AND stream < ?`, tenant, kind, successor(kind))
	if err != nil {
		return 0, fmt.Errorf("count events: %w", Unavailable(err))
	}
	return n, nil
}

// OfKind is the SQL condition that a column names a stream of a kind. It has no parameters, so that both engines choose
// the index of such streams.
func OfKind(column string, kind domain.StreamKind) string {
	return fmt.Sprintf("%[1]s >= '%[2]s:' AND %[1]s < '%[2]s;'", column, kind.Name)
}

// successor is the end of the range of the streams of a kind.
func successor(kind string) string { return kind[:len(kind)-1] + string(kind[len(kind)-1]+1) }

// InSlice reads the events of a slice's streams up to a position, stream by stream, each in order of its versions.
// The events have only their facts and [domain.EventMetadata]. It holds one event in memory and stops at the first
// error. A transaction can run no other query meanwhile.
func (at Snapshot) InSlice(ctx context.Context, s Slice, upTo int64) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		err := database.ForEach(ctx, at.db, func(rows *sql.Rows) error {
			r := Record{Tenant: s.Tenant}
			var hadText bool
			err := rows.Scan(&r.Position, &r.EventID, &r.Stream, &r.Version, &r.Name, &r.SchemaVersion,
				&r.RecordedAt, &r.OccurredAt, &r.Actor, &r.OnBehalfOf, &r.Data, &hadText, &r.Text)
			if err != nil {
				return err
			}
			event, err := r.Event()
			if err != nil {
				return err
			}
			event.TextErased = hadText && r.Text == nil
			if !yield(event, nil) {
				return database.ErrEnough
			}
			return nil
		}, `
			SELECT
				e.position, e.event_id, e.stream, e.version, e.name, e.schema_version,
				e.recorded_at, e.occurred_at, e.actor, e.on_behalf_of, e.data, e.text_commitment IS NOT NULL, `+currentText+`
			FROM `+recordTables+`
			WHERE e.tenant = ? AND e.stream > ? AND e.stream <= ? AND e.position <= ?
			ORDER BY e.stream, e.version`, s.Tenant, s.After, s.Through, upTo)
		if err != nil {
			yield(domain.Event{}, fmt.Errorf("read slice: %w", Unavailable(err)))
		}
	}
}

// Snapshot is the log as one transaction sees it.
type Snapshot struct{ db database.Querier }

// SnapshotOf reads the log within a transaction. If the transaction is isolated accordingly, the log and other tables
// are read as of the same moment.
func SnapshotOf(tx database.Querier) Snapshot { return Snapshot{tx} }

// Ahead is the part of a tenant's log that a projection has not read.
type Ahead struct {
	Tenant  string
	After   int64  // the position up to which the projection has read
	AfterID string // the id of the event there; empty at 0
	Head    int64  // the newest position
}

// Events is the number of these events.
func (a Ahead) Events() int64 { return a.Head - a.After }

// Ahead lists the tenants whose logs continue after the checkpoint of a projection, in order.
func (at Snapshot) Ahead(ctx context.Context, projection string) ([]Ahead, error) {
	var list []Ahead
	err := database.ForEach(ctx, at.db, func(rows *sql.Rows) error {
		var a Ahead
		err := rows.Scan(&a.Tenant, &a.After, &a.AfterID, &a.Head)
		list = append(list, a)
		return err
	}, tenantsQuery+`, heads (tenant, head) AS (
			SELECT
				t.tenant,
				(SELECT position FROM events WHERE tenant = t.tenant ORDER BY position DESC LIMIT 1)
			FROM tenants AS t
			WHERE t.tenant IS NOT NULL
		)
		SELECT h.tenant, coalesce(c.position, 0), coalesce(CAST(c.event_id AS text), ''), h.head
		FROM heads AS h
		LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = h.tenant
		WHERE h.head > coalesce(c.position, 0)
		ORDER BY h.tenant`, projection)
	if err != nil {
		return nil, fmt.Errorf("find what %s has not read: %w", projection, Unavailable(err))
	}
	return list, nil
}
