package events

import (
	"context"
	"database/sql"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// head is the newest event of a tenant's log; the zero value is an empty log.
type head struct {
	position   int64
	eventID    uuid.UUID
	recordedAt time.Time
}

func (h *head) scan(rows *sql.Rows) error {
	var at database.Time
	if err := rows.Scan(&h.position, &h.eventID, &at); err != nil {
		return err
	}
	h.recordedAt = at.Time
	return nil
}

const headQuery = `
	SELECT position, event_id, recorded_at
	FROM events
	WHERE tenant = ?
	ORDER BY position DESC
	LIMIT 1`

// lockQuery waits for the tenant's lock, which lasts until the transaction has ended. Its key is the
// table of events and the tenant: logs in other schemas of the database do not wait for this one, and
// two tenants whose names collide merely take turns.
func lockQuery(tenant string) (query string, args []any) {
	hash := fnv.New32a()
	hash.Write([]byte(tenant))
	return `SELECT pg_advisory_xact_lock('events'::regclass::oid::integer, ?)`, []any{int32(hash.Sum32())}
}

// readings take the tenant's lock and then look at the head and at earlier requests.
//
// They must be statements of their own: each sees what was committed when it began, and the ones after
// the first begin when the lock is held. In one statement with the lock, the head would be that of
// before the wait, and its position would be given out twice. On SQLite the transaction has held the
// lock since BEGIN IMMEDIATE.
func (b *batch) readings() database.Batch {
	b.requests = map[requestKey]request{}
	db := b.log.db
	reading := func(each func(*sql.Rows) error, query string, args ...any) database.Query {
		if db.Engine == database.SQLite {
			return database.Query{SQL: query, Values: args, Each: each}
		}
		return database.Query{SQL: db.QueryGen().FormatQuery(query, args...), Each: each}
	}
	var readings database.Batch
	if db.Engine == database.Postgres {
		lock, args := lockQuery(b.tenant)
		readings = append(readings, reading(ignore, lock, args...))
	}
	readings = append(readings, reading(b.head.scan, headQuery, b.tenant))
	if keys := b.keys(); len(keys) > 0 {
		query, args := requestsQuery(db.Engine, b.tenant, keys)
		readings = append(readings, reading(b.recall, query, args...))
	}
	return append(readings, b.streams.readings(reading)...)
}

func ignore(*sql.Rows) error { return nil }

// keys are the idempotency keys of the batch, without duplicates.
func (b *batch) keys() []requestKey {
	var keys []requestKey
	seen := map[requestKey]bool{}
	for _, c := range b.commands {
		if c.Request == nil || seen[keyOf(c.Submission)] {
			continue
		}
		seen[keyOf(c.Submission)] = true
		keys = append(keys, keyOf(c.Submission))
	}
	return keys
}

// recall notes an earlier request.
func (b *batch) recall(rows *sql.Rows) error {
	r, err := scanRequest(rows)
	b.requests[r.requestKey] = r
	return err
}

// LockTenant keeps appends to a tenant's log waiting until the transaction has ended: for background work
// that must not overlap with one.
func (l *Log) LockTenant(ctx context.Context, tx bun.IDB, tenant string) error {
	if l.db.Engine == database.SQLite {
		return nil // the one writer is the lock
	}
	query, args := lockQuery(tenant)
	return database.ForEach(ctx, tx, ignore, query, args...)
}
