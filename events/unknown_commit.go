package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/background"
	"github.com/annals-kb/annals/database"
)

// errNotCommitted says that a transaction whose COMMIT nobody answered was certainly not committed.
var errNotCommitted = errors.New("the COMMIT that nobody answered did not happen")

// resolveUnknownCommit returns nil if a transaction whose COMMIT nobody answered was committed. It waits for the
// database to come back, as long as the log has patience. The error matches
// database.ErrOutcomeUnknown if it did not come back, and no longer does if certainly nothing was
// committed.
func (l *Log) resolveUnknownCommit(b *batch, unknown error) error {
	if len(b.records) == 0 {
		return unrecorded(b)
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.options.CommitTimeout)
	defer cancel()
	l.options.Logger.WarnContext(ctx, "a COMMIT was not answered, looking for its events",
		"tenant", b.tenant, "events", len(b.records), "error", unknown)
	err := background.Backoff{Shortest: 20 * time.Millisecond, Longest: time.Second}.Retry(ctx, func() (done bool, err error) {
		found, err := l.look(ctx, b)
		switch {
		case err != nil:
			return false, fmt.Errorf("%w; looking for it: %w", unknown, err)
		case found == len(b.records):
			return true, nil
		case found == 0:
			return true, errNotCommitted
		}
		return true, fmt.Errorf("half a transaction of tenant %s is there, %d of %d events: %w", b.tenant, found, len(b.records), ErrHole)
	})
	return err
}

// unrecorded decides about a transaction without events: if it was to note requests, it can be
// repeated without harm, and otherwise there was nothing to commit.
func unrecorded(b *batch) error {
	if len(b.newRequests) > 0 {
		return errNotCommitted
	}
	return nil
}

// look counts the batch's events in the log. It takes the tenant's lock first: the transaction in
// doubt held it, so once we have it, that one has ended and will not appear any more.
func (l *Log) look(ctx context.Context, b *batch) (found int, err error) {
	ids := make([]string, len(b.records))
	for i, r := range b.records {
		ids[i] = r.EventID
	}
	looked := errors.New("looked")
	err = l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if l.db.Engine == database.Postgres {
			query, args := lockQuery(b.tenant)
			if err := database.ForEach(ctx, tx, ignore, query, args...); err != nil {
				return err
			}
		}
		err := database.ForEach(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&found) }, `
			SELECT count(*)
			FROM events
			WHERE tenant = ? AND event_id IN (?)`, b.tenant, bun.List(ids))
		if err != nil {
			return err
		}
		return looked // nothing to commit
	})
	if errors.Is(err, looked) {
		err = nil
	}
	return found, err
}
