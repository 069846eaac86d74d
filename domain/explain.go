package domain

import "time"

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
