package domain

import (
	"strings"
	"time"
)

// Access is one read: the caller was given knowledge, or was denied it.
type Access struct {
	Tenant         string
	At             time.Time
	Kind           string // "search", "get", "list" or "denied"
	Route          string // method and pattern, never what was asked
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

// Retrieved is an item that was given, or that was asked for in vain.
type Retrieved struct {
	ID    string
	Score float64 // of a search; 0 otherwise
}

// AccessQuery selects accesses of one tenant, the newest first.
type AccessQuery struct {
	Tenant   string
	Item     string // who was given it, or found it helpful; empty for what was denied
	Actor    Entity // as actor or on whose behalf
	Only     Entity // only what was done by or for it; empty for everybody
	From, To time.Time
	Skip     int64
	Limit    int
}

// Usage is one use of an item: it was given to a caller, was found helpful, or was denied.
type Usage struct {
	At            time.Time
	Kind          string // "search", "get", "list", "found helpful" or "denied"
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
	Count      int       // what it was ranked by: votes against it, or reports, in the period of the query
	Last       time.Time // the newest of them
	Before     float64   // for what falls: the confidence when the time began
	After      float64   // and when it ended
	Policy     string    // the confidence policy that computed Before and After
	Reason     string    // for what is stale: the newest
}
