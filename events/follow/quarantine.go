package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// quarantine is the set of a tenant's streams that a projection skips, as of the reading of a page.
type quarantine struct {
	changes int64 // number of changes so far, which the checkpoint also stores
	streams map[string]bool
}

// without removes the events of quarantined streams.
func (q *quarantine) without(events []domain.Event) []domain.Event {
	if q == nil || len(q.streams) == 0 {
		return events
	}
	var rest []domain.Event
	for _, event := range events {
		if !q.streams[event.Stream] {
			rest = append(rest, event)
		}
	}
	return rest
}

// most limits the quarantined streams of one tenant. More of them suggest a fault in the program or its
// configuration, so the projection stops instead of skipping them all.
const most = 100

// errCrowded says that this limit is reached.
var errCrowded = errors.New("too many streams are in quarantine")

// quarantineStream puts the stream of an event into quarantine and moves on; cause is the reason.
func (l *Followers) quarantineStream(
	ctx context.Context, projection string, page Page, cause error, attempts int,
) error {
	event := page.Events[0]
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.holdCheckpoint(ctx, tx, projection, page); err != nil {
			return err
		}
		q, err := readQuarantine(ctx, tx, projection, page.Tenant)
		if err != nil {
			return err
		}
		if len(q) >= most {
			return fmt.Errorf("%w, %d of tenant %s: repair their common cause, then replay them: %w",
				errCrowded, len(q), page.Tenant, cause)
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO quarantine (projection, tenant, stream, first_position, event_id, error, since, attempts)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			projection, page.Tenant, event.Stream, event.Position, event.EventID, brief(cause),
			database.At(l.options.Clock()), attempts)
		if err != nil {
			return fmt.Errorf("put %s into quarantine: %w", event.Stream, err)
		}
		if err := l.moveCheckpoint(ctx, tx, projection, page); err != nil {
			return err
		}
		return noteChange(ctx, tx, projection, page.Tenant)
	})
	switch {
	case errors.Is(err, errMoved):
		return nil // another process did it, or set the checkpoint back
	case err != nil:
		return err
	}
	page.quarantine.changes++
	page.quarantine.streams[event.Stream] = true
	l.options.Logger.ErrorContext(ctx, "a stream is in quarantine: a projection skips it",
		"projection", projection, "tenant", page.Tenant, "stream", event.Stream, "position", event.Position,
		"event", event.EventID, "name", event.Name, "attempts", attempts, "error", cause)
	return nil
}

// brief shortens the text of an error.
func brief(err error) string {
	const most = 1000
	text := []rune(err.Error())
	return string(text[:min(len(text), most)])
}

// noteChange counts a change of the quarantine. Pages that were prepared before it are read again. Work that
// remembers pages learns that events came out of order; see [Page.OrderChanges].
func noteChange(ctx context.Context, tx bun.IDB, projection, tenant string) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE checkpoints
		SET quarantines = quarantines + 1
		WHERE projection = ? AND tenant = ?`, projection, tenant)
	return err
}

// readQuarantine lists the streams that a projection skips.
func readQuarantine(ctx context.Context, db database.Querier, projection, tenant string) (map[string]bool, error) {
	streams := map[string]bool{}
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		var stream string
		err := rows.Scan(&stream)
		streams[stream] = true
		return err
	}, `SELECT stream FROM quarantine WHERE projection = ? AND tenant = ?`, projection, tenant)
	if err != nil {
		return nil, fmt.Errorf("read quarantine of %s: %w", projection, events.Unavailable(err))
	}
	return streams, nil
}

// Quarantined lists the streams of a tenant that a projection skips, the oldest first.
func (l *Followers) Quarantined(ctx context.Context, projection, tenant string) ([]domain.Quarantined, error) {
	return l.quarantined(ctx, l.db, projection, tenant, "")
}

// quarantined is [Followers.Quarantined], restricted to one stream if stream is not empty.
func (l *Followers) quarantined(
	ctx context.Context, db database.Querier, projection, tenant, stream string,
) ([]domain.Quarantined, error) {
	var list []domain.Quarantined
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		q := domain.Quarantined{Projection: projection}
		var since database.Time
		err := rows.Scan(&q.Stream, &q.Position, &q.EventID, &q.Error, &since, &q.Attempts, &q.Waiting)
		q.Since = since.Time
		list = append(list, q)
		return err
	}, `
		SELECT
			q.stream, q.first_position, q.event_id, q.error, q.since, q.attempts,
			(SELECT count(*) FROM events AS e
			 WHERE e.tenant = q.tenant AND e.stream = q.stream AND e.position BETWEEN q.first_position AND c.position)
		FROM quarantine AS q
		JOIN checkpoints AS c ON c.projection = q.projection AND c.tenant = q.tenant
		WHERE q.projection = ? AND q.tenant = ? AND (? = '' OR q.stream = ?)
		ORDER BY q.first_position`, projection, tenant, stream, stream)
	if err != nil {
		return nil, fmt.Errorf("read quarantine of %s: %w", projection, events.Unavailable(err))
	}
	return list, nil
}
