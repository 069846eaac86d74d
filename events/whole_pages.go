package events

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/background"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

const (
	wholePage  = 5000                   // bare events are small
	shortPause = 250 * time.Millisecond // so that a page or two of them keep up with any log within a second
)

// AddWholePages is [AddHandler] for a projection that means nothing without every single event: it passes
// nothing over, and stands still until it can take in what comes next. Of each event it is given what can be
// read of all, whatever they say: place, id, stream, name and hash. Its pages have up to 5,000 of them, and
// it lets writers go first for a quarter of a second at most, so that it stays within a second of a log that
// is never idle.
func AddWholePages(router *message.Router, l *Log, projection string, handler Handler) *message.Handler {
	l.handlers.addWholePages(projection)
	return add(router, l, projection, func(_ context.Context, page Page) (Change, error) {
		return handled{handler, page}, nil
	}, func(page *Page) { page.quarantine = nil })
}

// bare reads a page of events without what they say.
func (l *Log) bare(ctx context.Context, tenant string, after int64) (page []domain.Event, err error) {
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		e := domain.Event{Tenant: tenant}
		if err := rows.Scan(&e.Position, &e.EventID, &e.Stream, &e.Name, &e.Hash); err != nil {
			return err
		}
		page = append(page, e)
		if want := after + int64(len(page)); e.Position != want {
			return holeError{tenant: tenant, missing: want}
		}
		return nil
	}, `
		SELECT position, event_id, stream, name, hash
		FROM events
		WHERE tenant = ? AND position > ?
		ORDER BY position
		LIMIT ?`, tenant, after, wholePage)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", unavailable(err))
	}
	return page, nil
}

// longestPause is how long a projection yields to commands at most.
func (l *Log) longestPause(projection string) time.Duration {
	if l.handlers.wantsWholePages(projection) {
		return shortPause
	}
	return background.LongestPause
}
