package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

const pageSize = 100 // events that are read together

// waiting is sent while the database is away, which is expected to come back.
const waiting = ": waiting for the database\n\n"

// readDelay lets commits that follow one another closely be read together.
const readDelay = 50 * time.Millisecond

// feed is a caller that follows the log. It reads for itself until it has reached the end of the log, and then takes
// the pages of the tenant's tail. It sends a page before it takes the next one. So a slow caller occupies the memory of
// one page. A caller that reads nothing is disconnected and may resume.
type feed struct {
	feeds   *Feeds
	call    *serve.Call
	tail    *tail
	headers string    // of the request; streams with the same ones have the same caller
	looked  time.Time // when the caller's rights were read
	changes int       // of rights, until then
	query   domain.EventQuery
	choose  Chooser // nil for all events of the query
	control *http.ResponseController
}

// Chooser are those of some events that the caller receives. It reads the items that it is not given.
type Chooser func(ctx context.Context, from []domain.Event, items itemsByID) ([]domain.Event, error)

type itemsByID = map[string]*domain.Knowledge

// Why a feed ended.
const (
	endLeft    = "left"    // the caller
	endSlow    = "slow"    // the caller read nothing for Config.Timeout
	endClosing = "closing" // the server shuts down
	endRefused = "refused" // the caller may not read any more
	endTrouble = "trouble" // an error of the server
)

// run sends events until the feed ends, and returns why.
func (f *feed) run(ctx context.Context) (end string) {
	beat := time.NewTicker(f.feeds.api.Heartbeat)
	defer beat.Stop()
	if end := f.send("retry: 2000\n: following\n\n"); end != "" {
		return end
	}
	for {
		page := f.tail.page.Load()
		more, end := f.step(ctx, page)
		if end != "" {
			return end
		}
		if more {
			continue
		}
		select {
		case <-page.replaced:
		case <-beat.C:
			if end := f.heartbeat(); end != "" {
				return end
			}
		case <-f.feeds.api.Leaving:
			return f.close(endClosing, serve.ErrClosing)
		case <-ctx.Done():
			return endLeft
		}
	}
}

// step sends the next page; more tells that another page follows at once. What takes long to send is looked for again,
// because the caller's rights or the texts may have changed.
func (f *feed) step(ctx context.Context, page *tailPage) (more bool, end string) {
	select {
	case <-f.feeds.api.Leaving:
		return false, f.close(endClosing, serve.ErrClosing)
	default:
	}
	reading, cancel := context.WithTimeout(ctx, f.feeds.api.Timeout)
	defer cancel()
	events, through, more, err := f.next(reading, page)
	if err == nil && f.choose == nil { // which hides references, too
		events, err = f.feeds.events.Hide(reading, f.call, f.query.Words, events...)
	}
	if err == nil && f.feeds.events.Items.Recorder != nil && len(events) > 0 {
		err = f.give(reading, page, events)
	}
	if err == nil {
		for began := time.Now(); len(events) > 0; events = events[1:] {
			if time.Since(began) > serve.RightsAge {
				return true, ""
			}
			if end := f.send(sseFrame(events[0])); end != "" {
				return false, end
			}
			f.query.After = events[0].Position
		}
		f.query.After = max(f.query.After, through)
		return more, ""
	}
	return false, f.failed(ctx, err)
}

// give records that the caller is given the items that events are about, as far as they are as the events left them.
func (f *feed) give(ctx context.Context, page *tailPage, events []domain.Event) (err error) {
	versions := map[string]int64{}
	for _, e := range events {
		if id, is := domain.ItemOf(e.Stream); is {
			versions[id] = e.Version
		}
	}
	var items itemsByID
	if events[0].Position > page.after && events[len(events)-1].Position <= page.through {
		items, err = page.items()
	} else {
		items, err = f.feeds.events.Items.Reader.Items(ctx, f.query.Tenant, slices.Collect(maps.Keys(versions)))
	}
	var given []*domain.Knowledge
	for _, id := range slices.Sorted(maps.Keys(versions)) {
		if k := items[id]; k != nil && k.Version == versions[id] {
			given = append(given, k)
		}
	}
	if err == nil && len(given) > 0 {
		f.feeds.events.Items.GiveLook(f.call, given...)
	}
	return err
}

// failed says what becomes of a feed whose next events cannot be read.
func (f *feed) failed(ctx context.Context, err error) (end string) {
	switch {
	case ctx.Err() != nil:
		return endLeft
	case serve.AnswerTo(err).Status == http.StatusServiceUnavailable:
		return f.send(waiting)
	case serve.AnswerTo(err).Status < http.StatusInternalServerError:
		return f.close(endRefused, err)
	}
	f.call.Err = err
	return f.close(endTrouble, err)
}

// next are the events to send, and the position through which they were looked for.
func (f *feed) next(ctx context.Context, page *tailPage) (events []domain.Event, through int64, more bool, err error) {
	switch {
	case page.through <= f.query.After && page.after <= f.query.After:
		return nil, page.through, false, nil
	case page.after <= f.query.After:
		if events, err = f.pick(ctx, page); err == nil {
			return events, page.through, false, nil
		}
	}
	select {
	case f.feeds.reading <- struct{}{}:
		defer func() { <-f.feeds.reading }()
	case <-ctx.Done():
		return nil, 0, false, domain.Refuse(domain.ErrBusy, "many callers read the log")
	}
	head, _, err := f.feeds.events.Log.Head(ctx, f.query.Tenant)
	if err != nil || head <= f.query.After {
		return nil, head, false, err
	}
	if err = f.permitted(ctx, 0); err == nil { // before the page, which is for the caller as they are now
		events, through, err = f.feeds.events.Finder.Find(ctx, f.query)
	}
	if err == nil && f.choose != nil {
		events, err = f.choose(ctx, events, nil)
	}
	if through == 0 { // the query looked at everything up to the head
		through = head
	}
	return events, through, through < head, err
}

// pick are the events of a page that the caller receives. The caller's rights are read only for those, and when they
// may have changed.
func (f *feed) pick(ctx context.Context, page *tailPage) (picked []domain.Event, err error) {
	if f.changes != page.changes {
		if err := f.permitted(ctx, serve.RightsAge); err != nil {
			return nil, err
		}
		f.changes = page.changes
	}
	var items itemsByID
	if f.choose != nil || f.query.AboutItems() {
		if items, err = page.items(); err != nil {
			return nil, err
		}
	}
	picked = f.query.Select(page.events, items)
	if f.choose != nil && len(picked) > 0 {
		picked, err = f.choose(ctx, picked, items)
	}
	if err != nil || len(picked) == 0 || time.Since(f.looked) < serve.RightsAge {
		return picked, err
	}
	if err := f.permitted(ctx, serve.RightsAge); err != nil {
		return nil, err
	}
	return f.pick(ctx, page)
}

// permitted checks that the caller is still known, with the role that the stream began with. From now on, the feed
// reads with the rights that the caller has now, or that another stream of the caller had so long ago.
func (f *feed) permitted(ctx context.Context, ago time.Duration) (err error) {
	f.looked = time.Now()
	rights := knownRights{at: f.looked, changes: f.tail.page.Load().changes}
	known, is := f.tail.known.Load(f.headers)
	if before, _ := known.(knownRights); is && before.changes == rights.changes && f.looked.Sub(before.at) < ago {
		rights = before
	} else if rights.caller, err = f.feeds.api.Authenticate(f.call.Request.WithContext(ctx)); err != nil {
		return err
	}
	if rights.caller.Role != f.call.Principal.Role {
		return domain.Refuse(domain.ErrForbidden, "the role of the key was changed").WithFix("follow again")
	}
	f.tail.known.Store(f.headers, rights)
	f.call.Principal = rights.caller // the query points to it
	return nil
}

// knownRights are the rights of a caller at a time.
type knownRights struct {
	caller  domain.Principal
	at      time.Time
	changes int
}

// sseFrame is an event as a server-sent event. Its id is the event to resume after.
func sseFrame(e domain.Event) string {
	data, _ := json.Marshal(serve.EventOf(e)) // of strings, numbers and JSON that was valid when it was recorded
	return "id: " + e.EventID + "\ndata: " + string(data) + "\n\n"
}

// heartbeat sends a sign of life. Each fourth one checks the caller's rights again, unless that was done meanwhile.
func (f *feed) heartbeat() (end string) {
	var err error
	if time.Since(f.looked) > 3*f.feeds.api.Heartbeat {
		err = f.permitted(f.call.Request.Context(), serve.RightsAge)
	}
	switch {
	case err == nil:
		return f.send(": alive\n\n")
	case serve.AnswerTo(err).Status == http.StatusServiceUnavailable:
		return f.send(waiting)
	default:
		return f.close(endRefused, err)
	}
}

// close tells the caller why the stream ends.
func (f *feed) close(end string, err error) string {
	data, _ := json.Marshal(serve.ProblemOf(err, f.call.Instance()))
	_ = f.send("event: closed\ndata: " + string(data) + "\n\n")
	return end
}

// send writes within Config.Timeout. It returns why the feed ends if it cannot.
func (f *feed) send(text string) (end string) {
	_ = f.control.SetWriteDeadline(time.Now().Add(f.feeds.api.Timeout))
	_, err := f.call.Response.Write([]byte(text))
	if err == nil {
		err = f.control.Flush()
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.call.Err = fmt.Errorf("a follower of the log read nothing for %s: %w", f.feeds.api.Timeout, context.Canceled)
		return endSlow
	}
	return endLeft
}

// tail reads what is new in a tenant's log, once for all streams that have reached its end.
type tail struct {
	feeds   *Feeds
	streams int // guarded by the mutex of feeds
	end     func()
	page    atomic.Pointer[tailPage]
	known   sync.Map // knownRights by the headers of requests
}

// tailPage are the events after a position, through another one.
type tailPage struct {
	after, through int64
	events         []domain.Event
	items          func() (itemsByID, error) // that the events are about
	changes        int                       // of rights, since the tail began
	replaced       chan struct{}             // closed when there is another page
}

// run publishes pages until ctx ends. If it cannot read, the streams read for themselves, and report why they cannot.
func (t *tail) run(ctx context.Context, tenant string) {
	grown, leave := t.feeds.events.Watcher.Watch(tenant)
	defer leave()
	for through := int64(-1); ; {
		page, err := t.read(ctx, tenant, through)
		var again <-chan time.Time
		switch {
		case err != nil:
			again = time.After(t.feeds.api.Heartbeat)
			t.publish(&tailPage{after: math.MaxInt64}) // of which no stream has use
		case through < 0, len(page.events) > 0:
			through = page.through
			t.publish(page)
		}
		if len(page.events) == pageSize {
			again = time.After(0)
		}
		select {
		case <-grown:
		case <-again:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(readDelay):
		case <-ctx.Done():
			return
		}
	}
}

// read reads the page after a position; less than 0 for the end of the log.
func (t *tail) read(ctx context.Context, tenant string, after int64) (*tailPage, error) {
	reading, cancel := context.WithTimeout(ctx, t.feeds.api.Timeout)
	defer cancel()
	if after < 0 {
		head, _, err := t.feeds.events.Log.Head(reading, tenant)
		return &tailPage{after: head, through: head}, err
	}
	events, _, err := t.feeds.events.Finder.Find(reading, domain.EventQuery{Tenant: tenant, After: after, Limit: pageSize})
	page := &tailPage{after: after, through: after, events: events}
	var ids []string
	for _, e := range events {
		page.through = e.Position
		if id, is := domain.ItemOf(e.Stream); is {
			ids = append(ids, id)
		}
	}
	page.items = sync.OnceValues(func() (itemsByID, error) {
		ctx, cancel := context.WithTimeout(ctx, t.feeds.api.Timeout)
		defer cancel()
		return t.feeds.events.Items.Reader.Items(ctx, tenant, ids)
	})
	return page, err
}

func (t *tail) publish(page *tailPage) {
	page.replaced = make(chan struct{})
	before := t.page.Load()
	if before != nil {
		page.changes = before.changes
	}
	if slices.ContainsFunc(page.events, concernsRights) {
		page.changes++
	}
	if t.page.Store(page); before != nil {
		close(before.replaced)
	}
}

// concernsRights tells whether an event may change what a caller may read, whichever item it is.
func concernsRights(e domain.Event) bool {
	return !domain.KindOfStream(e.Stream).KeepsRights
}
