package events

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// scanLimit is how many positions one page of [Log.Find] looks at, unless an index leads to the answers.
const scanLimit = 20_000

// Find reads a page of the events that a query selects. next is what to ask for as After to get the
// following page, and 0 at the end. The work of a page is limited: one that looked at many events and
// found few answers with those, and a next. Where all events are selected the error matches [ErrHole] if one
// is missing.
func (l *Log) Find(ctx context.Context, q domain.EventQuery) (events []domain.Event, next int64, err error) {
	limit := min(cmp.Or(max(q.Limit, 0), 100), pageSize)
	window, err := l.window(ctx, q)
	if err != nil || window.empty() {
		return nil, 0, err
	}
	choice, err := l.choose(ctx, q, window)
	if err != nil || choice.none {
		return nil, 0, err
	}
	page, more := window.page(choice.whole, q.Descending)
	where, args := choice.where(page)
	order := "e.position"
	if q.Stream != "" {
		order = "e.version" // the same order, and the planner sees which index has it
	}
	if q.Descending {
		order += " DESC"
	}
	events, err = queryEvents(ctx, l.db, `
		SELECT `+recordColumns+`
		FROM `+recordTables+`
		WHERE `+where+`
		ORDER BY `+order+`
		LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, fmt.Errorf("find events: %w", unavailable(err))
	}
	if choice.everything() {
		if err := page.filledBy(events, q, limit+1); err != nil {
			return nil, 0, fmt.Errorf("find events: %w", err)
		}
	}
	switch {
	case len(events) > limit:
		events = events[:limit]
		return events, events[limit-1].Position, nil
	case !more:
		return events, 0, nil
	case q.Descending:
		return events, page.from, nil
	default:
		return events, page.to, nil
	}
}

// span is a range of positions, both ends included.
type span struct{ from, to int64 }

func (s span) empty() bool { return s.from > s.to }

func (s span) length() int64 { return s.to - s.from + 1 }

// page is the part of the span that one page looks at, and whether there is more; all of it, if an
// index leads to what is looked for.
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

// filledBy tells whether events are the first of the span, in the query's order, up to so many.
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
func (l *Log) window(ctx context.Context, q domain.EventQuery) (span, error) {
	position, _, err := l.Head(ctx, q.Tenant)
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
		first, err := l.firstAt(ctx, q.Tenant, q.From, position)
		if err != nil {
			return span{}, err
		}
		s.from = max(s.from, first)
	}
	if !q.To.IsZero() {
		first, err := l.firstAt(ctx, q.Tenant, q.To, position)
		if err != nil {
			return span{}, err
		}
		s.to = min(s.to, first-1)
	}
	return s, nil
}

// firstAt is the position of the first event recorded at t or later, one beyond the head if there
// is none. Times never decrease along a log, so it halves the range: a look-up of the primary key a
// step, without an index on times.
func (l *Log) firstAt(ctx context.Context, tenant string, t time.Time, head int64) (int64, error) {
	low, high := int64(1), head+1 // the answer is in low…high
	for low < high {
		middle := low + (high-low)/2
		at, err := l.recordedAt(ctx, tenant, middle)
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

// PositionAt is the newest position of a tenant's log at a moment: that of the last event recorded
// at t or before; 0 if there was none.
func (l *Log) PositionAt(ctx context.Context, tenant string, t time.Time) (int64, error) {
	head, _, err := l.Head(ctx, tenant)
	if err != nil {
		return 0, err
	}
	first, err := l.firstAt(ctx, tenant, t.Truncate(time.Microsecond).Add(time.Microsecond), head)
	return first - 1, err
}

func (l *Log) recordedAt(ctx context.Context, tenant string, position int64) (time.Time, error) {
	var at database.Time
	err := l.db.QueryRowContext(ctx, `
		SELECT recorded_at
		FROM events
		WHERE tenant = ? AND position = ?`, tenant, position).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, holeError{tenant: tenant, missing: position}
	case err != nil:
		return time.Time{}, fmt.Errorf("look up position %d: %w", position, unavailable(database.Classify(ctx, err)))
	}
	return at.Time, nil
}
