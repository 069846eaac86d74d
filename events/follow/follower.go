package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
	"github.com/annals-kb/annals/events/codec"
)

// abreast is how many tenants one projection works on at the same time.
const abreast = 4

// follower delivers the next pages of every tenant's log to one projection, while this process has the projection's
// lease.
type follower struct {
	followers  *Followers
	projection string
	out        chan *message.Message
	abreast    chan struct{} // holds a token for every page at work
	wanted     time.Time     // when it last asked the holder of the lease for it
}

// follow delivers a tenant's pages until there are no more, or until an error stops the projection.
func (f *follower) follow(ctx context.Context, tenant string) {
	pause := shortestPause
	var page Page
	for ctx.Err() == nil {
		before, began := page, time.Now()
		var err error
		page, err = f.step(ctx, tenant)
		switch {
		case err == nil && len(page.Events) == 0:
			f.followers.lastErrors.note(f.projection, tenant, nil)
			return
		case err == nil && (page.After > before.After || len(before.Events) == 0):
			pause = shortestPause
			f.followers.log.Background().Yield(ctx, f.projection, time.Since(began), f.followers.longestPause(f.projection))
			continue
		case err == nil: // acknowledged without moving the checkpoint
		case ctx.Err() != nil:
			return
		case errors.Is(err, errRefused): // the handler has reported the error
		case f.followers.lastErrors.note(f.projection, tenant, err):
			f.followers.options.Logger.ErrorContext(ctx, "a projection is stalled",
				"projection", f.projection, "tenant", tenant, "error", err)
		}
		if errors.Is(err, events.ErrRestored) || errors.Is(err, events.ErrHole) {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
}

// errRefused says that the handler did not acknowledge a page.
var errRefused = errors.New("page refused")

// step delivers the next page; it returns an empty page if there is none.
func (f *follower) step(ctx context.Context, tenant string) (Page, error) {
	select {
	case f.abreast <- struct{}{}:
		defer func() { <-f.abreast }()
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
	page, err := f.next(ctx, tenant)
	page.followed = true
	if err != nil || len(page.Events) == 0 {
		return page, err
	}
	return page, f.deliver(ctx, page)
}

// next reads the page after the checkpoint, up to an event that cannot be decoded. Such an event gets a page of its
// own.
func (f *follower) next(ctx context.Context, tenant string) (Page, error) {
	c, err := readCheckpoint(ctx, f.followers.db, f.projection, tenant)
	if err != nil {
		return Page{}, err
	}
	if err := c.check(f.projection, tenant); err != nil {
		return Page{}, err
	}
	page := Page{
		Tenant: tenant, After: c.position, AfterID: c.eventID,
		quarantine: &quarantine{changes: c.changes, streams: map[string]bool{}},
	}
	if c.changes > 0 {
		page.quarantine.streams, err = readQuarantine(ctx, f.followers.db, f.projection, tenant)
		if err != nil {
			return Page{}, err
		}
	}
	mark, err := events.Erasures(ctx, f.followers.db, tenant)
	if err != nil {
		return Page{}, err
	}
	page.erasures = &mark
	if f.followers.handlers.wantsWholePages(f.projection) {
		page.Events, err = f.followers.log.Reader.Envelopes(ctx, tenant, c.position, wholePage)
		return page, err
	}
	records, err := f.followers.log.Reader.Records(ctx, tenant, c.position, events.PageSize)
	if err != nil {
		return Page{}, err
	}
	for _, record := range records {
		event, err := record.Event()
		switch {
		case err == nil:
			page.Events = append(page.Events, event)
			continue
		case len(page.Events) > 0: // the event that cannot be decoded is in the next page
		case errors.Is(err, codec.ErrUnknownFact):
			return Page{}, fmt.Errorf("read log: %w", err)
		default:
			page.unreadable = err
			page.Events = []domain.Event{{
				Tenant: tenant, Position: record.Position, EventID: record.EventID, Stream: record.Stream, Name: record.Name,
				Hash: record.Hash,
			}}
		}
		break
	}
	return page, nil
}

// deliver sends a page and waits until it is acknowledged.
func (f *follower) deliver(ctx context.Context, page Page) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	msg, err := newMessage(ctx, page)
	if err != nil {
		return err
	}
	select {
	case f.out <- msg:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-msg.Acked():
		return nil
	case <-msg.Nacked():
		return errRefused
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	wholePage  = 5000                   // bare events are small
	shortPause = 250 * time.Millisecond // keeps the lag below a second with a page or two between pauses
)

// AddWholePages is [AddPreparer] for a projection that must not skip any event: it stops until it can process the next
// one. Its events have only a position, id, stream, name and hash, which can always be read. Its pages have up to
// 5,000 events. It yields to writers for a quarter of a second at most, so it stays within a second of a busy log.
func AddWholePages(router *message.Router, l *Followers, projection string, handler Handler) *message.Handler {
	l.handlers.addWholePages(projection)
	return add(router, l, projection, func(_ context.Context, page Page) (Change, error) {
		return handled{handler: handler, page: page}, nil
	}, func(page *Page) { page.quarantine = nil })
}

// behind lists the tenants whose newest event is not the one at the projection's checkpoint, among some tenants; nil
// means all.
func (l *Followers) behind(ctx context.Context, projection string, of map[string]struct{}) ([]string, error) {
	heads, args := events.EveryHead, []any{}
	if of != nil {
		if len(of) == 0 {
			return nil, nil
		}
		for tenant := range of {
			args = append(args, tenant)
		}
		heads = `WITH chosen (tenant) AS (VALUES (?)` + strings.Repeat(`, (?)`, len(of)-1) + `)` + events.HeadsOfChosen
	}
	var tenants []string
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		tenants = append(tenants, tenant)
		return err
	}, heads+`
		SELECT h.tenant
		FROM heads AS h
		LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = h.tenant
		WHERE h.head IS DISTINCT FROM c.event_id
		ORDER BY h.tenant`, append(args, projection)...)
	return tenants, err
}

// longestPause limits how long a projection yields to commands.
func (l *Followers) longestPause(projection string) time.Duration {
	if l.handlers.wantsWholePages(projection) {
		return shortPause
	}
	return background.LongestPause
}
