package domain

import "time"

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

// NewFor is for how long an item counts as new that nobody has judged.
const NewFor = 30 * 24 * time.Hour

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
