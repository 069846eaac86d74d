package domain

import "time"

// List asks for items in order of remembering, newest first.
type List struct {
	By       Principal
	Filter   Filter
	Before   int64     // numbers less than this; 0 from the newest
	Limit    int       // 1…100; 0 for 20
	AsOf     int64     // as things were at this position of the log; 0 for as they are
	AsOfTime time.Time // the time of that; zero for now
}

// ListPage is a piece of a list.
type ListPage struct {
	Items []*Knowledge
	Next  int64 // Before of the following page; 0 at the end
}

// Answer is what a search found.
type Answer struct {
	Hits     []Found
	Embedder string // the vector space that meaning was compared in
	Degraded string // why words stand alone; empty when meaning took part
	MinScore float64
	Explain  *Explanation // when asked for, or when there are no hits
}

// Found is a hit with its item.
type Found struct {
	Hit
	Knowledge *Knowledge
	Terms     []string // which of the query's terms it contains; with Explain
}

// Explanation says how an answer came about.
type Explanation struct {
	Audience  []Scope // empty for everything in the tenant
	Visible   int64   // items in the audience's scopes
	Passed    int64   // of those, items that passed the filters
	BestBelow float64 // the best score below the threshold; 0 if none
	Terms     []string
	Plans     []ScopePlan
	Took      time.Duration
}

// ScopePlan says how the vectors of a scope were searched.
type ScopePlan struct {
	Scope Scope
	Items int64
	Plan  string // "exact", "sketch", "none"
}

// Feedback is the record of an item's use: the newest 50 votes for and against.
type Feedback struct {
	Helpful []Use
	Harmful []Use
}

// ProjectionStatus is how a projection does.
type ProjectionStatus struct {
	Name       string
	Version    int
	State      string // building, catching_up, verifying, ready, active, standby, retired, failed
	Inline     bool   // written with the event itself: never behind
	WhatIf     bool   // built only to be compared, and thrown away
	Position   int64  // how far it has read the tenant's log
	Head       int64  // the log's newest position
	LagEvents  int64
	LagSeconds float64 // age of the oldest event it has not yet read
	// Ahead is how long after now by this clock the newest event was recorded; of the active version of knowledge.
	Ahead       time.Duration
	Settings    map[string]string
	Error       string    // why it stands still, or failed; empty when it did not
	Halted      bool      // it will not go on by itself
	Holder      string    // the process that works on it now; empty if there is nothing to do, or no process to do it
	ReadAt      time.Time // when it last read something; zero for one that is written with the log
	Quarantined int64     // streams that it passes over
	// Unindexed is how many items, once for each of their scopes, have words that wait to be indexed, counted up to
	// 100,000: a search over everything reads them all.
	Unindexed int64
	CreatedAt time.Time
	UpdatedAt time.Time      // when it came into its state
	Report    *RebuildReport // what its verification found; nil if there was none
}
