package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/codec"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/annals-kb/annals/domain"
)

// An erasure destroys texts in the transaction that records it. Concurrent work may have read them earlier, and may
// write rows or vectors derived from them later. Such work must not bring a text back. Therefore it
//
//   - reads the position of the tenant's newest erasure ([Erasures]) before it reads texts,
//   - and in the writing transaction blocks erasures ([ShareTexts]) and compares that position. If it has
//     changed, the work reads the texts again.
//
// A transaction that both reads texts and writes needs only the second step.

// erasure is an event of a batch that destroys or replaces texts.
type erasure struct {
	record    Record
	number    int64 // of the item; 0 for another thing
	events    []string
	redaction bool
}

// noteErasure remembers a fact that destroys texts.
func (b *batch) noteErasure(fact domain.Fact, r Record) {
	switch fact.(type) {
	case domain.Erased, domain.SessionErased, domain.TextsErased, domain.Redacted:
	default:
		return
	}
	e := erasure{record: r, events: domain.Destroys(fact)}
	if id, isItem := domain.ItemOf(r.Stream); isItem {
		e.number = b.stage.Knowledge(id).Number
	}
	_, e.redaction = fact.(domain.Redacted)
	b.erasures = append(b.erasures, e)
}

// destroyed are the ids of the events whose texts the batch destroys.
func (b *batch) destroyed() map[string]bool {
	gone := map[string]bool{}
	for _, e := range b.erasures {
		for _, id := range e.events {
			gone[id] = true
		}
	}
	return gone
}

// destruction are the statements that destroy the texts that the batch's events name, and the full fingerprints of
// requests about them.
func (b *batch) destruction(statements []byte) []byte {
	format := func(query string, args ...any) {
		statements = append(statements, b.log.db.QueryGen().FormatQuery(query, args...)+";\n"...)
	}
	streams := map[string]bool{}
	for _, e := range b.erasures {
		r := e.record
		if id, isItem := domain.ItemOf(r.Stream); isItem && !e.redaction {
			format(`
				DELETE FROM files
				WHERE tenant = ? AND id = ?`, r.Tenant, id)
		}
		format(`
			INSERT INTO erasures (tenant, position, event_id, stream, number, texts, redaction, erased_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			r.Tenant, r.Position, r.EventID, r.Stream, e.number, len(e.events), e.redaction, r.RecordedAt)
		if len(e.events) > 0 {
			format(`
				INSERT INTO destroyed_texts (tenant, position, said_at)
				SELECT tenant, position, ?
				FROM events
				WHERE tenant = ? AND event_id IN (?)
				ON CONFLICT (tenant, position) DO UPDATE
				SET said_at = excluded.said_at`, r.Position, r.Tenant, bun.List(e.events))
		}
		streams[r.Stream] = true
	}
	if gone := slices.Sorted(maps.Keys(b.destroyed())); len(gone) > 0 {
		format(`
			DELETE FROM event_texts
			WHERE tenant = ? AND position IN (SELECT position FROM events WHERE tenant = ? AND event_id IN (?))`,
			b.tenant, b.tenant, bun.List(gone))
	}
	format(`
		UPDATE requests
		SET fingerprint = substr(fingerprint, 1, ?)
		WHERE tenant = ? AND stream IN (?)`,
		len(domain.Fingerprint{}.Outline), b.tenant, bun.List(slices.Sorted(maps.Keys(streams))))
	return statements
}

const erasuresQuery = `
	SELECT coalesce(max(position), 0)
	FROM erasures
	WHERE tenant = ?`

// Erasures is the position of a tenant's newest erasure; 0 if there is none.
func Erasures(ctx context.Context, db bun.IDB, tenant string) (mark int64, err error) {
	err = database.ForEach(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&mark) }, erasuresQuery, tenant)
	if err != nil {
		return 0, fmt.Errorf("read erasures: %w", Unavailable(err))
	}
	return mark, nil
}

// ShareTexts blocks erasures of a tenant's texts until the transaction ends. mark is the position of the newest one.
func ShareTexts(ctx context.Context, tx bun.IDB, tenant string) (mark int64, err error) {
	if err := SharedTexts(tx, tenant, &mark).Run(ctx, tx); err != nil {
		return 0, fmt.Errorf("keep texts: %w", Unavailable(err))
	}
	return mark, nil
}

func ignore(*sql.Rows) error { return nil }

// SharedTexts is [ShareTexts] as a batch, to send with other queries; it sets mark.
func SharedTexts(tx bun.IDB, tenant string, mark *int64) database.Batch {
	readings := make(database.Batch, 0, 2)
	if tx.Dialect().Name() == dialect.PG {
		readings = append(readings, database.Query{SQL: textLock("pg_advisory_xact_lock_shared", tenant), Each: ignore})
	}
	return append(readings, database.Query{
		SQL:  tx.NewRaw(erasuresQuery, tenant).String(),
		Each: func(rows *sql.Rows) error { return rows.Scan(mark) },
	})
}

// LockTexts allows the transaction to destroy texts of a tenant. It waits for transactions that called [ShareTexts],
// and blocks new ones until it has ended.
func LockTexts(ctx context.Context, tx bun.IDB, tenant string) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil // the one writer is the lock
	}
	_, err := tx.ExecContext(ctx, textLock("pg_advisory_xact_lock", tenant))
	return err
}

func textLock(function, tenant string) string {
	hash := fnv.New32a()
	hash.Write([]byte(tenant))
	return fmt.Sprintf("SELECT %s('event_texts'::regclass::oid::integer, %d)", function, int32(hash.Sum32()))
}

// StreamsWithin reads whole streams of a tenant in the caller's transaction, one after the other, each in order of
// its versions.
func StreamsWithin(ctx context.Context, tx bun.IDB, tenant string, streams []string) ([]domain.Event, error) {
	return queryEvents(ctx, tx, `
		WHERE e.tenant = ? AND e.stream IN (?)
		ORDER BY e.stream, e.version`, tenant, bun.List(streams))
}

// Refold is an item at a version of its stream, with the redactions of its whole history applied.
func Refold(
	id string, history []domain.Event, through int64, policy domain.ConfidencePolicy,
) (*domain.Knowledge, error) {
	read := func(event domain.Event, text json.RawMessage) (domain.Event, error) {
		fact, err := codec.Decode(
			codec.Payload{Name: event.Name, SchemaVersion: event.SchemaVersion, Data: event.Data, Text: text},
		)
		event.Fact, event.Text, event.TextErased, event.TextRedacted = fact, text, false, true
		return event, err
	}
	return domain.Refold(id, history, through, policy, read)
}
