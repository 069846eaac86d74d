package domain

import (
	"slices"
	"time"
)

// RebuildProgress is how far a rebuild has come.
type RebuildProgress struct {
	Projection string
	Version    int    // being built
	Phase      string // building, indexing, catching_up, verifying, ready
	Streams    int64  // loaded
	Total      int64  // streams to load
	Events     int64  // folded
	Behind     int64  // events still to catch up with
	Verified   int64  // streams compared
	Took       time.Duration
	Rate       float64       // streams a second in this phase; 0 if nobody can say
	Left       time.Duration // an estimate; 0 if there is none
}

// RebuildReport is what a verification found.
type RebuildReport struct {
	Version   int               `json:"version"`
	Against   int               `json:"against"` // the active version it was compared with
	Passed    bool              `json:"passed"`
	Items     int64             `json:"items"`
	Rows      map[string]int64  `json:"rows"`      // by table
	Checksums map[string]string `json:"checksums"` // by table; order-independent
	Wrong     []string          `json:"wrong"`     // rows that an independent fold does not give, the first few
	Changed   map[string]int64  `json:"changed"`   // items that differ from the active version, by column
	Intended  []string          `json:"intended"`  // columns that the change means to change
	Repair    bool              `json:"repair"`    // the active version is known to be wrong: no change is refused
	Overlap   float64           `json:"overlap"`   // of the first ten hits of searches by the items' own tasks
	Searches  int               `json:"searches"`
	Impact    RebuildImpact     `json:"impact"`
}

// Repaired tells whether the version that it was compared with was found not to be what the log says, and was
// replaced for that.
func (r RebuildReport) Repaired() bool { return r.Repair && r.HasUnintendedChange() }

// HasUnintendedChange tells whether something differs that the change does not mean to change.
func (r RebuildReport) HasUnintendedChange() bool {
	for column := range r.Changed {
		if !slices.Contains(r.Intended, column) {
			return true
		}
	}
	return false
}
