package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
)

// checkpoint is how far a projection has read a tenant's log; the zero value is not at all.
type checkpoint struct {
	position  int64
	eventID   string
	updatedAt database.Time
	changes   int64          // of the projection's quarantine
	found     sql.NullString // the id of the event that is at the position now
}

// checkpoints are read and moved.
type checkpoints struct {
	db      *database.DB
	options events.Options
}

// Checkpoint is how far a projection has read a tenant's log, the id of the event there, and when it
// got there; zero values if it has not begun.
func (l *checkpoints) Checkpoint(ctx context.Context, projection, tenant string) (
	position int64, eventID string, updatedAt time.Time, err error,
) {
	c, err := readCheckpoint(ctx, l.db, projection, tenant)
	return c.position, c.eventID, c.updatedAt.Time, err
}

func readCheckpoint(ctx context.Context, db *database.DB, projection, tenant string) (checkpoint, error) {
	var c checkpoint
	r := c.reading(db, projection, tenant, "")
	if err := database.ForEach(ctx, db, r.Each, r.SQL); err != nil {
		return c, fmt.Errorf("read checkpoint of %s: %w", projection, events.Unavailable(err))
	}
	return c, nil
}

// reading fills the checkpoint in.
func (c *checkpoint) reading(db *database.DB, projection, tenant, lock string) database.Query {
	return database.Query{
		Each: func(rows *sql.Rows) error {
			return rows.Scan(&c.position, &c.eventID, &c.updatedAt, &c.changes, &c.found)
		},
		SQL: db.QueryGen().FormatQuery(`
			SELECT c.position, c.event_id, c.updated_at, c.quarantines, e.event_id
			FROM checkpoints AS c
			LEFT JOIN events AS e ON e.tenant = c.tenant AND e.position = c.position
			WHERE c.projection = ? AND c.tenant = ?
			`+lock, projection, tenant),
	}
}

// check compares the checkpoint with the log. The error matches [events.ErrRestored].
func (c checkpoint) check(projection, tenant string) error {
	if c.position == 0 || c.found.Valid && c.found.String == c.eventID {
		return nil
	}
	what := "there is no such position"
	if c.found.Valid {
		what = "there is another event"
	}
	return fmt.Errorf("%w: %s has read tenant %s up to position %d, and now %s: "+
		"compare the two, and see docs/backup.md#restore",
		events.ErrRestored, projection, tenant, c.position, what)
}

// Advance moves a projection's checkpoint from where a page begins to where it ends, in the transaction
// that writes what the page means. The error says that another process was faster.
func (l *checkpoints) Advance(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	if err := l.holdCheckpoint(ctx, tx, projection, page); err != nil {
		return err
	}
	return l.moveCheckpoint(ctx, tx, projection, page)
}

// errMoved says that another transaction has moved the checkpoint meanwhile.
var errMoved = errors.New("checkpoint moved")

// holdCheckpoint waits until no other transaction works on the same projection and tenant, and keeps others
// out until this one has ended. The error is errMoved if the page is not what comes next any more, if a stream
// was put into quarantine or released since, or if a text was erased.
//
// A process that stops in the middle of the transaction of a page is thrown out of it after the time of a lease,
// or the next one would wait for it. Nor does that transaction wait for the disk: should the server fail, what it
// wrote and the checkpoint are lost together, and the page comes again. Later transactions that wait for the
// disk, as every append and every signature does, make it durable too.
func (l *checkpoints) holdCheckpoint(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	var c checkpoint
	var readings database.Batch
	lock := ""
	if l.db.Engine == database.Postgres {
		lock = "FOR UPDATE OF c"
		if page.followed {
			readings = append(readings, database.Query{Each: func(*sql.Rows) error { return nil }, SQL: fmt.Sprintf(
				`SELECT set_config('idle_in_transaction_session_timeout', '%d', true), set_config('synchronous_commit', 'off', true)`,
				max(1, l.options.Lease.Milliseconds()))})
		}
	}
	var mark int64
	if page.erasures != nil {
		readings = append(readings, events.SharedTexts(tx, page.Tenant, &mark)...)
	}
	if err := append(readings, c.reading(l.db, projection, page.Tenant, lock)).Run(ctx, tx); err != nil {
		return fmt.Errorf("hold checkpoint of %s: %w", projection, events.Unavailable(err))
	}
	switch {
	case c.position != page.After || c.eventID != page.AfterID:
		return errMoved
	case page.quarantine != nil && c.changes != page.quarantine.changes:
		return errMoved
	case page.erasures != nil && mark != *page.erasures:
		return errMoved // what was read may have been erased since
	}
	return nil
}

// moveCheckpoint notes that the page was read, unless the checkpoint is not where the page began.
func (l *checkpoints) moveCheckpoint(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	last := page.Last()
	result, err := tx.ExecContext(ctx, `
		INSERT INTO checkpoints AS c (projection, tenant, position, event_id, updated_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (projection, tenant) DO UPDATE
		SET position = excluded.position, event_id = excluded.event_id, updated_at = excluded.updated_at
		WHERE c.position = ?`,
		projection, page.Tenant, last.Position, last.EventID, database.At(l.options.Clock()), page.After)
	if err != nil {
		return fmt.Errorf("move checkpoint: %w", err)
	}
	if moved, err := result.RowsAffected(); err != nil || moved == 0 {
		return errors.Join(errMoved, err)
	}
	return nil
}
