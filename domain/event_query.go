package domain

import (
	"slices"
	"strings"
	"time"
)

// EventQuery selects events of one tenant's log. Empty fields select everything; several names are
// alternatives.
type EventQuery struct {
	Tenant     string
	After      int64      // positions greater than this, or with Descending less than this
	Limit      int        // at most 500; 0 for 100
	Descending bool       // newest first; After 0 then means from the head
	Only       *Principal // only events of items that it may see now; nil for all events

	Stream        string
	Actor         Entity // as actor or on whose behalf
	OnBehalfOf    Entity
	Names         []string
	Scope         Scope  // of the item, as it is now
	Owner         Entity // of the item, as it is now
	RequestID     string
	CorrelationID string
	CausationID   string
	EventID       string
	TraceID       string   // of the traceparent, of a vote, or of what was remembered
	Words         []string // in lower case; an event must mention all of them

	From, To                 time.Time // recorded at or after From, before To
	OccurredFrom, OccurredTo time.Time // happened at or after, before; only events with such a time
}

// AboutItems tells whether selecting the events requires the current items.
func (q EventQuery) AboutItems() bool { return q.Scope != "" || q.Owner != "" || q.Only != nil }

// Select are those of some events after q.After that the query selects. items are those that they are about, as they
// are now. It ignores EventID, CausationID, From, To and Limit.
func (q EventQuery) Select(from []Event, items map[string]*Knowledge) (selected []Event) {
	var readers []Entity
	if q.Only != nil {
		readers = q.Only.Entities()
	}
	for _, e := range from {
		id, _ := ItemOf(e.Stream)
		if e.Position > q.After && q.selectsFact(e) && (!q.AboutItems() || q.selectsItem(items[id], readers)) {
			selected = append(selected, e)
		}
	}
	return selected
}

func (q EventQuery) selectsFact(e Event) bool {
	const none = ""
	switch {
	case len(q.Names) > 0 && !slices.Contains(q.Names, e.Name),
		q.Stream != none && q.Stream != e.Stream,
		q.Actor != none && q.Actor != e.Actor && q.Actor != e.OnBehalfOf,
		q.OnBehalfOf != none && q.OnBehalfOf != e.OnBehalfOf,
		q.RequestID != none && q.RequestID != e.RequestID,
		q.CorrelationID != none && q.CorrelationID != e.CorrelationID,
		!q.OccurredFrom.IsZero() && e.OccurredAt.Before(q.OccurredFrom),
		!q.OccurredTo.IsZero() && (e.OccurredAt.IsZero() || !e.OccurredAt.Before(q.OccurredTo)):
		return false
	}
	traced := strings.HasPrefix(e.Traceparent, "00-"+q.TraceID) || // or the vote or the source is
		strings.Contains(string(e.Data), `"trace_id":"`+q.TraceID+`"`)
	return (q.TraceID == none || traced) && (len(q.Words) == 0 || e.Mentions(q.Words))
}

func (q EventQuery) selectsItem(k *Knowledge, readers []Entity) bool {
	if k == nil || q.Owner != "" && q.Owner != k.Owner || q.Scope != "" && !slices.Contains(k.Scopes, q.Scope) {
		return false
	}
	if q.Only != nil && k.Status.Withheld() {
		return q.Only.MaySee(k)
	}
	gone := k.Status == IsDeleted || k.Status == IsErased
	return q.Only == nil || slices.Contains(readers, k.Owner) ||
		!gone && slices.ContainsFunc(k.Scopes, func(s Scope) bool {
			return s == Public || slices.Contains(readers, s.Entity())
		})
}

// EventHistogram counts events by the time when they were recorded.
type EventHistogram struct {
	Buckets   []EventBucket // without gaps, oldest first
	Estimated bool          // the counts are estimates, from a sample of the events
}

// EventBucket counts the events that were recorded at or after From, and before To.
type EventBucket struct {
	From, To time.Time
	Count    int64
	First    int64 // position of the first event that was counted; 0 if there is none
}
