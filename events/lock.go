package events

import (
	"context"
	"database/sql"
	"fmt"
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

// lock takes the tenant's lock and then looks at the head and at earlier requests.
//
// On PostgreSQL these are three statements in one round trip. They must be statements of their own:
// each sees what was committed when it began, and the ones after the first begin when the lock is
// held. In one statement with the lock, the head would be that of before the wait, and its position
// would be given out twice. On SQLite the transaction has held the lock since BEGIN IMMEDIATE.
func (b *batch) lock(ctx context.Context, tx bun.Tx) error {
	b.requests = map[requestKey]request{}
	keys := b.keys()
	requests, requestsArgs := requestsQuery(b.log.db.Engine, b.tenant, keys)
	if b.log.db.Engine == database.SQLite {
		if err := forEach(ctx, tx, b.head.scan, headQuery, b.tenant); err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := forEach(ctx, tx, b.recall, requests, requestsArgs...); err != nil {
				return err
			}
		}
	} else {
		lock, args := lockQuery(b.tenant)
		statements := lock + "; " + headQuery
		args = append(args, b.tenant)
		if len(keys) > 0 {
			statements += "; " + requests
			args = append(args, requestsArgs...)
		}
		if err := forEachSet(ctx, tx, []func(*sql.Rows) error{ignore, b.head.scan, b.recall}, statements, args...); err != nil {
			return err
		}
	}
	b.ids.last = b.head.eventID
	return nil
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

// forEachSet reads one result set after the other.
func forEachSet(ctx context.Context, db querier, each []func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return database.Classify(ctx, err)
	}
	defer rows.Close()
	for i := 0; ; i++ {
		if err := scanAll(ctx, rows, each[i]); err != nil {
			return err
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("next result: %w", database.Classify(ctx, err))
	}
	return nil
}

// Hold keeps appends to a tenant's log waiting until the transaction has ended: for background work
// that must not overlap with one.
func (l *Log) Hold(ctx context.Context, tx bun.IDB, tenant string) error {
	if l.db.Engine == database.SQLite {
		return nil // the one writer is the lock
	}
	query, args := lockQuery(tenant)
	return forEach(ctx, tx, ignore, query, args...)
}
