package domain

import (
	"strings"
	"time"
)

// Access is one read: the caller received items, or was denied them.
type Access struct {
	Tenant         string
	At             time.Time
	Kind           string // "search", "get", "list", "review" or "denied"
	Route          string // method and pattern, without the parameters
	Status         int    // of the answer
	Actor          Entity // empty if unknown
	OnBehalfOf     Entity
	Authentication string
	RequestID      string
	CorrelationID  string
	TraceID        string
	Items          []Retrieved // in the order of the answer
}

// AccessOf is an access by a caller.
func AccessOf(by Principal, origin Origin, kind string, status int, at time.Time) Access {
	access := Access{
		Tenant: by.Tenant, At: at, Kind: kind, Status: status, Actor: by.Subject, OnBehalfOf: by.OnBehalfOf,
		Authentication: by.Authentication, RequestID: origin.RequestID, CorrelationID: origin.CorrelationID,
	}
	if parts := strings.Split(origin.Traceparent, "-"); len(parts) == 4 {
		access.TraceID = parts[1]
	}
	return access
}

// Denied is the kind of an access that was refused.
const Denied = "denied"

// Reviewed is the kind of an access by a review. It is no use of an item.
const Reviewed = "review"

// Retrieved is an item that the caller received, or was denied.
type Retrieved struct {
	ID    string
	Score float64 // of a search; 0 otherwise
}

// AccessQuery selects accesses of one tenant, the newest first.
type AccessQuery struct {
	Tenant   string
	Item     string // uses of this item; empty for denied accesses
	Actor    Entity // as actor or on whose behalf
	Only     Entity // only accesses by it or on its behalf; empty for all
	From, To time.Time
	Skip     int64
	Limit    int
}

// Usage is one use of an item: a caller received it, found it helpful, or was denied it.
type Usage struct {
	At            time.Time
	Kind          string // "search", "get", "list", "review", "found helpful" or "denied"
	Actor         Entity
	OnBehalfOf    Entity
	Item          string
	Rank          int
	Score         float64
	Route         string
	Status        int
	RequestID     string
	CorrelationID string
	TraceID       string
	HarmfulAt     time.Time // when the item was first found harmful; zero if it was not
}

// ReportQuery asks which items stand out.
type ReportQuery struct {
	Tenant   string
	Only     *Principal // only items that it may see; nil for all
	Scope    Scope
	Owner    Entity
	From, To time.Time
	Skip     int64
	Limit    int
}

// ReportItem is an item that stands out, and why.
type ReportItem struct {
	ID         string
	Task       string
	Owner      Entity
	Scopes     []Scope
	Status     Status
	Helpful    int
	Harmful    int
	Reporters  int  // of staleness
	Expired    bool // its confirmation
	Confidence float64
	Count      int       // the rank: votes against it, or reports, in the period of the query
	Last       time.Time // the newest of them
	Before     float64   // in a report of falling confidence: at the beginning of the period
	After      float64   // at the end of the period
	Policy     string    // the confidence policy that computed Before and After
	Reason     string    // in a report of stale items: the newest reason
}

// The queues of a review. An item may wait in several.
const (
	QueueStale          = "stale"           // reported stale since its last confirmation
	QueueExpired        = "expired"         // its confirmation has expired
	QueueContested      = "contested"       // votes of both kinds
	QueueLowConfidence  = "low_confidence"  // below [LowConfidence], with a vote against it
	QueueSupersededUsed = "superseded_used" // given to callers after it was superseded
)

// Queues are the names of all queues.
func Queues() []string {
	return []string{QueueStale, QueueExpired, QueueContested, QueueLowConfidence, QueueSupersededUsed}
}

// LowConfidence is the confidence below which an item with a vote against it waits for a review.
const LowConfidence = 0.3

// ReviewQuery asks which items wait for a review.
type ReviewQuery struct {
	Tenant string
	Only   *Principal // only items that it may see; nil for all
	Scope  Scope
	Owner  Entity
	Queue  string // empty for all
	Skip   int64
	Limit  int
}

// ReviewPage is a page of items that wait for a review.
type ReviewPage struct {
	Items  []Review
	Total  int // of all pages
	Queues map[string]QueueLength
}

// QueueLength is the number of items in a queue.
type QueueLength struct {
	Items int
	More  bool // there are more than were counted
}

// Review is an item that waits for a review, and why.
type Review struct {
	Item    *Knowledge
	Reasons []ReviewReason
	Uses    int       // in the last 90 days, where retrievals are recorded; at most 100 are counted
	Used    time.Time // the last time
}

// ReviewReason is why an item is in a queue.
type ReviewReason struct {
	Queue string
	Since time.Time // of the first report, the expiry, the newest vote against it or the supersession
	Count int       // of reports or votes against it; 0 in other queues
	Text  string    // the newest reason of a report, or the id of the item that supersedes it
}
