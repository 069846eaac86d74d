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

// lockQuery waits for the tenant's lock, which lasts until the transaction ends. Its key combines the table of events
// and the tenant. Logs in other schemas of the database thus have other locks. Two tenants whose keys collide only
// wait for each other.
//
// A process that stops with the lock would block all other servers. PostgreSQL therefore ends the transaction if the
// process sends nothing for lockPatience and more, or takes no answer.
//
// The last column is the version of the schema, for [Log.locked].
func lockQuery(tenant string, more time.Duration) (query string, args []any) {
	hash := fnv.New32a()
	hash.Write([]byte(tenant))
	inMilliseconds := fmt.Sprintf("%dms", (lockPatience + more).Milliseconds())
	return `SELECT set_config('idle_in_transaction_session_timeout', ?, true), set_config('tcp_user_timeout', ?, true),
		pg_advisory_xact_lock('events'::regclass::oid::integer, ?), ` + database.SchemaColumn,
		[]any{inMilliseconds, inMilliseconds, int64(int32(hash.Sum32()))}
}

const lockPatience = 5 * time.Second

// locked refuses to go on with the lock if a newer release has migrated the database.
func (l *Log) locked(rows *sql.Rows) error {
	var version sql.NullInt64
	if err := rows.Scan(new(any), new(any), new(any), &version); err != nil {
		return err
	}
	return l.db.Knows(version)
}

// LockTenant blocks appends to a tenant's log until the transaction ends, for background work that must not overlap
// with one.
func (l *Log) LockTenant(ctx context.Context, tx bun.IDB, tenant string) error {
	if l.db.Engine == database.SQLite {
		return nil // the single writer is the lock
	}
	query, args := lockQuery(tenant, 0)
	return database.ForEach(ctx, tx, l.locked, query, args...)
}
