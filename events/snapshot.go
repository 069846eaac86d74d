package events

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/annals-kb/annals/database"
)

// Snapshot is the log as somebody's transaction sees it.
type Snapshot struct{ db database.Querier }

// SnapshotOf reads the log within a transaction, so that what it says and what the transaction reads
// elsewhere are of one moment, where the transaction promises that.
func SnapshotOf(tx database.Querier) Snapshot { return Snapshot{tx} }

// Ahead is what a projection has still to read of a tenant's log.
type Ahead struct {
	Tenant  string
	After   int64  // how far the projection has read
	AfterID string // the id of the event there; empty at 0
	Head    int64  // the newest position
}

// Events is how many there are.
func (a Ahead) Events() int64 { return a.Head - a.After }

// Ahead lists, in order, the tenants whose logs go on after the checkpoint of a projection.
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
		return nil, fmt.Errorf("find what %s has not read: %w", projection, unavailable(err))
	}
	return list, nil
}
