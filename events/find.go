package events

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// scanLimit limits the positions that one page of [Log.Find] scans without an index.
const scanLimit = 20_000

// Finder selects events by their properties and times.
type Finder struct{ log *Reader }

// Find reads a page of the events that a query selects. next is the After of the following page, and 0 at the end.
// The work of a page is limited: a page may have few or no events and still a next. If the query selects all events,
// the error matches [ErrHole] if one is missing.
func (f Finder) Find(ctx context.Context, q domain.EventQuery) (events []domain.Event, next int64, err error) {
	limit := min(cmp.Or(max(q.Limit, 0), 100), PageSize)
	window, err := f.window(ctx, q)
	if err != nil || window.empty() {
		return nil, 0, err
	}
	choice, err := f.choose(ctx, q, window)
	if err != nil || choice.none {
		return nil, 0, err
	}
	page, more := window.page(choice.whole, q.Descending)
	events, through, err := f.readChosen(ctx, q, choice, page, limit+1)
	if err != nil {
		return nil, 0, fmt.Errorf("find events: %w", Unavailable(err))
	}
	if choice.everything() && len(q.Words) == 0 {
		if err := page.filledBy(events, q, limit+1); err != nil {
			return nil, 0, fmt.Errorf("find events: %w", err)
		}
	}
	switch {
	case len(events) > limit:
		events = events[:limit]
		return events, events[limit-1].Position, nil
	case through != 0:
		return events, through, nil
	case !more:
		return events, 0, nil
	case q.Descending:
		return events, page.from, nil
	default:
		return events, page.to, nil
	}
}

// readChosen reads the first events of a span that a query selects, up to most. It looks for the query's words in at
// most scanLimit events: through is the last of them if the span has more, and otherwise 0.
func (f Finder) readChosen(
	ctx context.Context, q domain.EventQuery, choice *chosen, page span, most int,
) (events []domain.Event, through int64, err error) {
	order, batch := "e.position", most
	if q.Stream != "" {
		order = "e.version" // the same order; the planner recognises the index by it
	}
	if q.Descending {
		order += " DESC"
	}
	if len(q.Words) > 0 {
		batch = PageSize
	}
	for range scanLimit / PageSize {
		where, args := choice.where(page)
		read, err := queryEvents(ctx, f.log.db, `
			WHERE `+where+`
			ORDER BY `+order+`
			LIMIT ?`, append(args, batch)...)
		if err != nil || len(q.Words) == 0 {
			return read, 0, err
		}
		for _, event := range read {
			if event.Mentions(q.Words) {
				events = append(events, event)
			}
		}
		if len(events) >= most {
			return events[:most], 0, nil
		}
		if len(read) < batch {
			return events, 0, nil
		}
		if through = read[batch-1].Position; q.Descending {
			page.to = through - 1
		} else {
			page.from = through + 1
		}
	}
	return events, through, nil
}

// span is a range of positions, both ends included.
type span struct{ from, to int64 }

func (s span) empty() bool { return s.from > s.to }

func (s span) length() int64 { return s.to - s.from + 1 }

// page is the part of the span for one page, and whether there is more. With an index it is the whole span.
func (s span) page(whole, descending bool) (page span, more bool) {
	page = s
	if whole {
		return page, false
	}
	if descending {
		page.from = max(s.from, s.to-scanLimit+1)
	} else {
		page.to = min(s.to, s.from+scanLimit-1)
	}
	return page, page != s
}

// filledBy checks that events are the first of the span in the query's order, up to most, without a gap.
func (s span) filledBy(events []domain.Event, q domain.EventQuery, most int) error {
	for i := range min(s.length(), int64(most)) {
		want := s.from + i
		if q.Descending {
			want = s.to - i
		}
		if i >= int64(len(events)) || events[i].Position != want {
			return holeError{tenant: q.Tenant, missing: want}
		}
	}
	return nil
}

// window turns the query's cursor and times into positions.
func (f Finder) window(ctx context.Context, q domain.EventQuery) (span, error) {
	position, _, err := f.log.Head(ctx, q.Tenant)
	if err != nil {
		return span{}, err
	}
	s := span{from: 1, to: position}
	switch {
	case q.Descending && q.After > 0:
		s.to = min(s.to, q.After-1)
	case !q.Descending:
		s.from = q.After + 1
	}
	if !q.From.IsZero() {
		first, err := firstAt(ctx, f.log.db, q.Tenant, q.From, position)
		if err != nil {
			return span{}, err
		}
		s.from = max(s.from, first)
	}
	if !q.To.IsZero() {
		first, err := firstAt(ctx, f.log.db, q.Tenant, q.To, position)
		if err != nil {
			return span{}, err
		}
		s.to = min(s.to, first-1)
	}
	return s, nil
}

// firstAt is the position of the first event recorded at t or later, one beyond the head if there is none. Times
// never decrease along a log, so a binary search with look-ups of the primary key finds it.
func firstAt(ctx context.Context, db database.Querier, tenant string, t time.Time, head int64) (int64, error) {
	low, high := int64(1), head+1 // the answer is in low…high
	for low < high {
		middle := low + (high-low)/2
		at, err := recordedAt(ctx, db, tenant, middle)
		if err != nil {
			return 0, err
		}
		if at.Before(t) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// Since are the positions of the events of a tenant recorded at t or later: from is one beyond to if there is none.
func Since(ctx context.Context, db database.Querier, tenant string, t time.Time) (from, to int64, err error) {
	var h head
	if err := database.ForEach(ctx, db, h.scan, headQuery, tenant); err != nil {
		return 0, 0, fmt.Errorf("read head: %w", Unavailable(err))
	}
	from, err = firstAt(ctx, db, tenant, t, h.position)
	return from, h.position, err
}

// PositionAt is the position of the last event of a tenant recorded at t or before; 0 if there is none.
func (f Finder) PositionAt(ctx context.Context, tenant string, t time.Time) (int64, error) {
	head, _, err := f.log.Head(ctx, tenant)
	if err != nil {
		return 0, err
	}
	first, err := firstAt(ctx, f.log.db, tenant, t.Truncate(time.Microsecond).Add(time.Microsecond), head)
	return first - 1, err
}

func recordedAt(ctx context.Context, db database.Querier, tenant string, position int64) (time.Time, error) {
	var at database.Time
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&at) }, `
		SELECT recorded_at
		FROM events
		WHERE tenant = ? AND position = ?`, tenant, position)
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("look up position %d: %w", position, Unavailable(database.Classify(ctx, err)))
	case at.IsZero():
		return time.Time{}, holeError{tenant: tenant, missing: position}
	}
	return at.Time, nil
}

// Causes finds the causes of events, their causes, and so on, up to [domain.MaxCauses] steps back. It ignores ids
// that no event of the tenant has.
func (f Finder) Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error) {
	const most = 1000 // events, whatever the ids
	known, seen := map[string]domain.Event{}, map[string]bool{}
	for range domain.MaxCauses {
		var fresh []string
		for _, id := range ids {
			if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id || seen[id] || len(seen) >= most {
				continue
			}
			seen[id] = true
			fresh = append(fresh, id)
		}
		if len(fresh) == 0 {
			break
		}
		found, err := queryEvents(ctx, f.log.db, `
			WHERE e.tenant = ? AND e.event_id IN (?)
			ORDER BY e.position`, tenant, bun.List(fresh))
		if err != nil {
			return nil, fmt.Errorf("find causes: %w", Unavailable(err))
		}
		ids = nil
		for _, event := range found {
			known[event.EventID] = event
			ids = append(ids, event.CausationID)
		}
	}
	return known, nil
}

// AheadOfClock is how far the time of the event at a position is ahead of this process's clock; 0 if it is not ahead.
func (f Finder) AheadOfClock(ctx context.Context, tenant string, position int64) (time.Duration, error) {
	at, err := recordedAt(ctx, f.log.db, tenant, position)
	return max(0, at.Sub(f.log.options.Clock())), err
}

// Resolve is the position of a tenant's log at a past time, and that time. The error matches [domain.ErrInvalid] if
// the time is in the future or before the log began.
func (f Finder) Resolve(ctx context.Context, tenant string, at domain.AsOf) (domain.AsOf, error) {
	head, _, err := f.log.Head(ctx, tenant)
	if err != nil {
		return at, err
	}
	refused := func(format string, values ...any) (domain.AsOf, error) {
		var p domain.Problems
		p.Add("as_of", format, values...)
		return at, p.Err()
	}
	switch {
	case head == 0:
		return refused("lies before the beginning: nothing is recorded yet")
	case at.Position > head:
		return refused("lies in the future: the log ends at position %d", head)
	case at.Position > 0:
		at.Time, err = recordedAt(ctx, f.log.db, tenant, at.Position)
		return at, err
	}
	if at.Time.After(f.log.options.Clock()) {
		newest, err := recordedAt(ctx, f.log.db, tenant, head) // ahead of a clock that was set back
		if err != nil {
			return at, err
		}
		if at.Time.After(newest) {
			return refused("lies in the future")
		}
	}
	if at.Position, err = f.PositionAt(ctx, tenant, at.Time); err != nil || at.Position > 0 {
		return at, err
	}
	began, err := recordedAt(ctx, f.log.db, tenant, 1)
	if err != nil {
		return at, err
	}
	return refused("lies before the beginning: the log begins at %s", began.Format(time.RFC3339Nano))
}

// AsOf is an item as of a position of the log, with all of its votes and reports. It is never nil; an item that was
// not yet remembered does not exist.
func (f Finder) AsOf(
	ctx context.Context, tenant, id string, position int64, policy domain.ConfidencePolicy,
) (*domain.Knowledge, error) {
	k := &domain.Knowledge{ID: id}
	// "+ 0" hides the position from the planner, which should use the stream's index.
	events, err := queryEvents(ctx, f.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND e.position + 0 <= ?
		ORDER BY e.version`, tenant, domain.KnowledgeStream(id), position)
	if err != nil {
		return nil, fmt.Errorf("read stream: %w", Unavailable(err))
	}
	for _, event := range events {
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, fmt.Errorf("replay %s: %w", event.Stream, err)
		}
	}
	return k, nil
}
