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

// checkpoint is the position up to which a projection has processed a tenant's log. The zero value is the beginning.
type checkpoint struct {
	position  int64
	eventID   string
	updatedAt database.Time
	changes   int64          // of the projection's quarantine
	found     sql.NullString // the id of the event that the log has at the position
}

// Checkpoint is a projection's position in a tenant's log, the id of the event there, and when it got there. It
// returns zero values if the projection has not begun.
func (l *Followers) Checkpoint(ctx context.Context, projection, tenant string) (
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

// reading is the query that fills in the checkpoint.
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

// Advance moves a projection's checkpoint over a page, in the transaction that writes the page's changes. The error
// says that another process was faster.
func (l *Followers) Advance(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	if err := l.holdCheckpoint(ctx, tx, projection, page); err != nil {
		return err
	}
	return l.moveCheckpoint(ctx, tx, projection, page)
}

// errMoved says that another transaction has moved the checkpoint.
var errMoved = errors.New("checkpoint moved")

// holdCheckpoint locks the checkpoint of a projection and tenant until the transaction ends. The error is errMoved if
// the page is no longer the next one, if the quarantine changed, or if a text was erased.
//
// If a process hangs in the transaction of a page, the database ends that transaction after the time of a lease, so
// the next process need not wait.
//
// The transaction does not wait for the disk. If the database fails, the page's changes and the checkpoint are lost
// together, and the page is delivered again. Later transactions that do wait, such as every append and every
// signature, make it durable, too.
func (l *Followers) holdCheckpoint(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	var c checkpoint
	var readings database.Batch
	lock := ""
	if l.db.Engine == database.Postgres {
		lock = "FOR UPDATE OF c"
		readings = append(readings, l.pageSettings(page.followed))
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
		return errMoved // a text of the page may have been erased
	}
	return nil
}

// pageSettings is the query that sets up the transaction of a page, and refuses to go on if a newer release has
// migrated the database. Of SQLite's file, no other process can do that.
func (l *Followers) pageSettings(followed bool) database.Query {
	settings, set := "", []any{}
	if followed {
		settings = fmt.Sprintf(`set_config('idle_in_transaction_session_timeout', '%d', true),
			set_config('synchronous_commit', 'off', true), set_config('statement_timeout', '0', true), `, max(1, l.options.Lease.Milliseconds()))
		set = []any{new(any), new(any), new(any)}
	}
	return database.Query{SQL: "SELECT " + settings + database.SchemaColumn, Each: func(rows *sql.Rows) error {
		var version sql.NullInt64
		if err := rows.Scan(append(set, &version)...); err != nil {
			return err
		}
		return l.db.Knows(version)
	}}
}

// moveCheckpoint moves the checkpoint to the end of the page, unless it is no longer at the page's beginning. The last
// event must be in this log: a primary that fails shows commits that no standby has received, and the page may have
// been read there.
func (l *Followers) moveCheckpoint(ctx context.Context, tx bun.IDB, projection string, page Page) error {
	last := page.Last()
	result, err := tx.ExecContext(ctx, `
		INSERT INTO checkpoints AS c (projection, tenant, position, event_id, updated_at)
		SELECT ?, tenant, position, event_id, ?
		FROM events
		WHERE tenant = ? AND position = ? AND event_id = ?
		ON CONFLICT (projection, tenant) DO UPDATE
		SET position = excluded.position, event_id = excluded.event_id, updated_at = excluded.updated_at
		WHERE c.position = ?`,
		projection, database.At(l.options.Clock()), page.Tenant, last.Position, last.EventID, page.After)
	if err != nil {
		return fmt.Errorf("move checkpoint: %w", err)
	}
	if moved, err := result.RowsAffected(); err != nil || moved == 0 {
		return errors.Join(errMoved, err)
	}
	return nil
}
