package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
	"github.com/annals-kb/annals/events/codec"
)

// abreast is how many tenants one projection works on at the same time.
const abreast = 4

// Followers are projections that follow the log together. Add them, and then start them.
type Followers struct{ all []*Follower }

// Add lets a projection follow every tenant's log, under a unique name. Of all processes that share the database, one
// works on it at a time. It gets pages of one tenant in order, pages of different tenants concurrently.
//
// If the database, a model or the network is unavailable, the page is retried at growing intervals until it succeeds.
// [Log.LastError] says why a projection is stalled.
//
// If an event makes a page fail, the page is divided until that event is alone. Then the event's stream is put into
// quarantine: the projection skips this stream and continues with the others. See [Log.RetryQuarantined].
func (f *Followers) Add(l *Log, projection string, prepare Preparer) *Follower {
	l.handlers.add(projection, prepare)
	until, stop := context.WithCancel(context.Background())
	one := &Follower{
		log: l, projection: projection, prepare: prepare, longestPause: background.LongestPause,
		abreast: make(chan struct{}, abreast), Stop: stop, until: until,
	}
	f.all = append(f.all, one)
	return one
}

// AddWhole is [Followers.Add] for a projection that must not skip any event: it stops until it can process the next
// one. Its events have only a position, id, stream, name and hash, which can always be read. Its pages have up to
// 5,000 events. It yields to writers for a quarter of a second at most, so it stays within a second of a busy log.
func (f *Followers) AddWhole(l *Log, projection string, handler Handler) {
	one := f.Add(l, projection, handler.Prepare)
	one.wholePages, one.longestPause = true, shortPause
}

const (
	wholePage  = 5000                   // bare events are small
	shortPause = 250 * time.Millisecond // keeps the lag below a second with a page or two between pauses
)

// Start lets all of them follow the log until ctx ends or end is called. The caller calls end, which waits for them.
func (f *Followers) Start(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	for _, one := range f.all {
		working.Go(func() { one.run(ctx) })
	}
	return func() {
		stop()
		working.Wait()
	}
}

// Follower hands the next pages of every tenant's log to one projection, while this process has the projection's
// lease.
type Follower struct {
	log          *Log
	projection   string
	prepare      Preparer
	wholePages   bool
	longestPause time.Duration // limits how long it yields to commands
	abreast      chan struct{} // holds a token for every page at work

	Stop  context.CancelFunc // lets it end before the others
	until context.Context    // ends with Stop
}

// follow hands over a tenant's pages until there are no more, or until an error stops the projection.
func (f *Follower) follow(ctx context.Context, tenant string) {
	pause := shortestPause
	var page Page
	for ctx.Err() == nil {
		before, began := page, time.Now()
		var err error
		page, err = f.step(ctx, tenant)
		switch {
		case err == nil && len(page.Events) == 0:
			f.log.lastErrors.note(f.projection, tenant, nil)
			return
		case err == nil && (page.After > before.After || len(before.Events) == 0):
			pause = shortestPause
			f.log.Background().Yield(ctx, f.projection, time.Since(began), f.longestPause)
			continue
		case err == nil: // handled without moving the checkpoint
		case ctx.Err() != nil:
			return
		default:
			f.log.noteStalled(ctx, f.projection, tenant, err)
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

// step hands the next page over; it returns an empty page if there is none.
func (f *Follower) step(ctx context.Context, tenant string) (Page, error) {
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
	ctx = database.ForTenant(ctx, tenant)
	if err = f.log.processPage(ctx, f.projection, page, f.prepare, attemptsAtPage); err == nil && ctx.Err() == nil {
		f.log.lastErrors.note(f.projection, tenant, nil)
	}
	return page, err
}

// next reads the page after the checkpoint, up to an event that cannot be decoded. Such an event gets a page of its
// own.
func (f *Follower) next(ctx context.Context, tenant string) (Page, error) {
	c, err := readCheckpoint(ctx, f.log.db, f.projection, tenant)
	if err != nil {
		return Page{}, err
	}
	if err := c.check(f.projection, tenant); err != nil {
		return Page{}, err
	}
	page := Page{Tenant: tenant, After: c.position, AfterID: c.eventID}
	if !f.wholePages {
		page.quarantine = &quarantine{changes: c.changes, streams: map[string]bool{}}
	}
	if !f.wholePages && c.changes > 0 {
		page.quarantine.streams, err = readQuarantine(ctx, f.log.db, f.projection, tenant)
		if err != nil {
			return Page{}, err
		}
	}
	mark, err := events.Erasures(ctx, f.log.db, tenant)
	if err != nil {
		return Page{}, err
	}
	page.erasures = &mark
	if f.wholePages {
		page.Events, err = f.log.Envelopes(ctx, tenant, c.position, wholePage)
		return page, err
	}
	records, err := f.log.Records(ctx, tenant, c.position, events.PageSize)
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

// behind lists the tenants whose newest event is not the one at the projection's checkpoint, among some tenants; nil
// means all.
func (l *Log) behind(ctx context.Context, projection string, of map[string]struct{}) ([]string, error) {
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
