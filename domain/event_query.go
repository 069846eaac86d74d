package domain

import "time"

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
	TraceID       string // of the traceparent, of a vote, or of what was remembered

	From, To                 time.Time // recorded at or after From, before To
	OccurredFrom, OccurredTo time.Time // happened in the world at or after, before; only what says when
}

// AboutItems tells whether it takes the items themselves to know which events are selected.
func (q EventQuery) AboutItems() bool { return q.Scope != "" || q.Owner != "" || q.Only != nil }
