package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// RetryQuarantined processes the waiting events of a quarantined stream in order, and releases the stream when none
// is left. An event that fails again stays, with the reason. The error matches [domain.ErrNotFound] if the stream is
// not in quarantine or this process has no such projection.
func (l *Followers) RetryQuarantined(ctx context.Context, projection, tenant, stream string) (domain.Replayed, error) {
	done := domain.Replayed{Stream: stream}
	prepare, found := l.handlers.of(projection)
	if !found {
		return done, domain.Refuse(domain.ErrNotFound, "this server has no projection of this name")
	}
	for size := events.PageSize; ; {
		q, err := l.inQuarantine(ctx, projection, tenant, stream)
		if errors.Is(err, domain.ErrNotFound) && done.Events > 0 {
			done.Released = true
			return done, nil
		}
		if err != nil {
			return done, err
		}
		if q.Waiting == 0 { // the projection or its checkpoint was reset
			_, err := l.SkipQuarantined(ctx, projection, tenant, stream)
			done.Released = err == nil
			return done, err
		}
		mark, err := events.Erasures(ctx, l.db, tenant)
		if err != nil {
			return done, err
		}
		c, err := readCheckpoint(ctx, l.db, projection, tenant)
		if err != nil {
			return done, err
		}
		waiting, err := l.log.Reader.StreamPart(ctx, tenant, stream, q.Position, c.position, size)
		var taken int
		if err == nil {
			taken, err = l.replayPage(
				ctx, projection, Page{Tenant: tenant, Events: waiting, erasures: &mark, late: true}, prepare, q,
			)
		}
		done.Events += int64(taken)
		switch {
		case errors.Is(err, errMoved):
			continue // another process retries it, too
		case err != nil && isPoison(err) && size > 1:
			size = 1
			continue
		case err != nil && isPoison(err):
			done.Left, err = l.noteFailure(ctx, projection, tenant, q, err)
			return done, err
		case err != nil:
			return done, events.Unavailable(err)
		}
	}
}

// inQuarantine finds a quarantined stream.
func (l *Followers) inQuarantine(ctx context.Context, projection, tenant, stream string) (domain.Quarantined, error) {
	list, err := l.quarantined(ctx, l.db, projection, tenant, stream)
	switch {
	case err != nil:
		return domain.Quarantined{}, err
	case len(list) == 0:
		return domain.Quarantined{}, domain.Refuse(domain.ErrNotFound, "this stream is not in quarantine")
	}
	return list[0], nil
}

// replayPage processes waiting events. If they are the last ones, it releases the stream.
func (l *Followers) replayPage(
	ctx context.Context, projection string, page Page, prepare Preparer, q domain.Quarantined,
) (taken int, err error) {
	page.After = page.Events[0].Position - 1
	change, err := l.preparedSafely(ctx, projection, page, prepare)
	if err != nil {
		return 0, err
	}
	err = l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		switch mark, err := events.ShareTexts(ctx, tx, page.Tenant); {
		case err != nil:
			return err
		case mark != *page.erasures:
			return errMoved
		}
		if err := l.holdQuarantine(ctx, tx, projection, page.Tenant, q); err != nil {
			return err
		}
		if err := change.Write(ctx, tx); err != nil {
			return err
		}
		next, err := l.following(ctx, tx, projection, page)
		if err != nil {
			return err
		}
		if next.Position == 0 {
			return l.release(ctx, tx, projection, page.Tenant, q.Stream)
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE quarantine
			SET first_position = ?, event_id = ?
			WHERE projection = ? AND tenant = ? AND stream = ?`,
			next.Position, next.EventID, projection, page.Tenant, q.Stream)
		if err != nil {
			return err
		}
		return noteChange(ctx, tx, projection, page.Tenant)
	})
	if err != nil {
		return 0, err
	}
	change.Done()
	return len(page.Events), nil
}

// preparedSafely turns a panic into an error.
func (l *Followers) preparedSafely(
	ctx context.Context, projection string, page Page, prepare Preparer,
) (change Change, err error) {
	defer l.recoverInto(ctx, projection, page.Tenant, &err)
	return prepare(ctx, page)
}

// holdQuarantine locks the checkpoint of a projection and tenant until the transaction ends. The error is errMoved if
// the stream's quarantine has changed.
func (l *Followers) holdQuarantine(
	ctx context.Context, tx bun.IDB, projection, tenant string, q domain.Quarantined,
) error {
	var c checkpoint
	lock := ""
	if l.db.Engine == database.Postgres {
		lock = "FOR UPDATE OF c"
	}
	if err := (database.Batch{c.reading(l.db, projection, tenant, lock)}).Run(ctx, tx); err != nil {
		return err
	}
	found, err := l.quarantined(ctx, tx, projection, tenant, q.Stream)
	if err == nil && (len(found) == 0 || found[0].Position != q.Position) {
		err = errMoved
	}
	return err
}

// following is the first waiting event of the stream after the page; zero if there is none.
func (l *Followers) following(
	ctx context.Context, tx bun.IDB, projection string, page Page,
) (next domain.Event, err error) {
	last := page.Last()
	err = database.ForEach(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&next.Position, &next.EventID) }, `
		SELECT e.position, e.event_id
		FROM events AS e
		JOIN checkpoints AS c ON c.projection = ? AND c.tenant = e.tenant AND e.position <= c.position
		WHERE e.tenant = ? AND e.stream = ? AND e.version > ?
		ORDER BY e.version
		LIMIT 1`, projection, page.Tenant, last.Stream, last.Version)
	return next, err
}

// release removes a stream from quarantine: from the checkpoint on, its events are processed again.
func (l *Followers) release(ctx context.Context, tx bun.IDB, projection, tenant, stream string) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM quarantine
		WHERE projection = ? AND tenant = ? AND stream = ?`, projection, tenant, stream)
	if err != nil {
		return err
	}
	return noteChange(ctx, tx, projection, tenant)
}

// noteFailure records why a retry failed, and what still waits.
func (l *Followers) noteFailure(
	ctx context.Context, projection, tenant string, q domain.Quarantined, cause error,
) (*domain.Quarantined, error) {
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE quarantine
			SET error = ?, attempts = attempts + 1
			WHERE projection = ? AND tenant = ? AND stream = ? AND first_position = ?`,
			brief(cause), projection, tenant, q.Stream, q.Position)
		return err
	})
	if err != nil {
		return nil, events.Unavailable(err)
	}
	left, err := l.inQuarantine(ctx, projection, tenant, q.Stream)
	return &left, err
}

// SkipQuarantined drops the waiting events of a quarantined stream. The projection processes later events of the
// stream, but the dropped ones only after a reset. The error matches [domain.ErrNotFound] if the stream is not in
// quarantine.
func (l *Followers) SkipQuarantined(ctx context.Context, projection, tenant, stream string) (domain.Skipped, error) {
	skipped := domain.Skipped{Stream: stream}
	for {
		q, err := l.inQuarantine(ctx, projection, tenant, stream)
		if err != nil {
			return skipped, err
		}
		err = l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if err := l.holdQuarantine(ctx, tx, projection, tenant, q); err != nil {
				return err
			}
			skipped.Events = nil
			err := database.ForEach(ctx, tx, func(rows *sql.Rows) error {
				var event domain.Event
				err := rows.Scan(&event.Position, &event.EventID, &event.Name)
				skipped.Events = append(skipped.Events, event)
				return err
			}, `
				SELECT e.position, e.event_id, e.name
				FROM events AS e
				JOIN checkpoints AS c ON c.projection = ? AND c.tenant = e.tenant AND e.position <= c.position
				WHERE e.tenant = ? AND e.stream = ? AND e.position >= ?
				ORDER BY e.version`, projection, tenant, stream, q.Position)
			if err != nil {
				return err
			}
			return l.release(ctx, tx, projection, tenant, stream)
		})
		if !errors.Is(err, errMoved) {
			return skipped, events.Unavailable(err)
		}
	}
}

// Reset lets a projection read a tenant's log again from the beginning, without its quarantine. Either its handler
// can process an event twice, or empty deletes what it has written, in the same transaction.
func (l *Followers) Reset(
	ctx context.Context, projection, tenant string, empty ...func(context.Context, bun.IDB) error,
) error {
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The row and its count of changes stay, so that other processes notice the reset.
		_, err := tx.ExecContext(ctx, `
			UPDATE checkpoints
			SET position = 0, event_id = ?, quarantines = quarantines + 1
			WHERE projection = ? AND tenant = ?`, uuid.Nil.String(), projection, tenant)
		if err != nil {
			return fmt.Errorf("reset the checkpoint: %w", err)
		}
		_, err = tx.ExecContext(ctx, `
			DELETE FROM quarantine
			WHERE projection = ? AND tenant = ?`, projection, tenant)
		if err != nil {
			return fmt.Errorf("delete the quarantine: %w", err)
		}
		for _, each := range empty {
			if err := each(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reset %s: %w", projection, events.Unavailable(err))
	}
	l.log.Watchers.Notify(tenant)
	return nil
}
