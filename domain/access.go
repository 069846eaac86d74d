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

	Authentication string // how the server knew the actor
}
