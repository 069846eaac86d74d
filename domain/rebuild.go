package domain

import "time"

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
	Rate       float64       // streams a second in this phase; 0 if unknown
	Left       time.Duration // an estimate; 0 if there is none
}

// RebuildReport is what a verification found.
type RebuildReport struct {
	Version     int              `json:"version"`
	Against     int              `json:"against"` // the active version it was compared with
	Passed      bool             `json:"passed"`
	Items       int64            `json:"items"`
	Checksum    string           `json:"checksum"`    // of all rows, whatever their order
	Wrong       []string         `json:"wrong"`       // the first few items that differ from an independent fold
	Differing   int64            `json:"differing"`   // items that differ from the active version
	Unintended  int64            `json:"unintended"`  // those of them that differ in more than the change intends
	Differences []ItemDifference `json:"differences"` // the first [MaxDifferences], the unintended before the others
	Intended    []string         `json:"intended"`    // columns that the change means to change
	Repair      bool             `json:"repair"`      // the active version is known to be wrong, so no difference is refused
}

// MaxDifferences is how many items a report shows that differ.
const MaxDifferences = 100

// ItemDifference has both rows of an item that two versions show in different ways. A missing row is nil. Rows lack
// the texts that people wrote, which must not outlive an erasure in a report.
type ItemDifference struct {
	Tenant string         `json:"tenant"`
	ID     string         `json:"id"`
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
}

// Repaired tells whether the new version replaced one that did not match the log.
func (r RebuildReport) Repaired() bool { return r.Repair && r.Unintended > 0 }

// RebuildPlan estimates a rebuild from the size of the active version.
type RebuildPlan struct {
	Projection string
	Active     int               // the active version
	Version    int               // the version to build
	Settings   map[string]string // the settings of that version
	Intended   []string          // columns that will differ because of the settings
	Streams    int64
	Events     int64
	Bytes      int64         // of the new version
	Need       int64         // bytes of disk during the rebuild, with the remains of the old version
	Free       *int64        // free bytes of disk; nil if unknown
	Took       time.Duration // estimated time
}

// RebuildOrder says what to rebuild. The zero value recomputes the active version with this release.
type RebuildOrder struct {
	Confidence string // the name of a policy; empty for the active version's
	WhatIf     bool   // only report the differences: the version is never read, and deleted afterwards
	Repair     bool   // the active version does not match the log: report differences instead of refusing them
}

// Fits refuses a rebuild if the disk has too little space. The error matches [ErrConflict].
func (p RebuildPlan) Fits() error {
	if p.Free == nil || p.Need <= *p.Free {
		return nil
	}
	const mega = 1 << 20
	return Refuse(ErrConflict, "a rebuild needs about %d MB of disk, and %d MB are free", p.Need/mega, *p.Free/mega).
		WithFix("make room, or retire the version that was active before")
}

// Rebuild is the state of the newest version that was built beside an active one.
type Rebuild struct {
	Projection string
	Active     int // the active version
	Version    int
	State      string // as in [ProjectionStatus]
	WhatIf     bool   // it is built only to be compared, then deleted
	Settings   map[string]string
	BeganAt    time.Time
	UpdatedAt  time.Time
	Error      string           // why it failed or who cancelled it
	Progress   *RebuildProgress // nil if no work is left
	Report     *RebuildReport   // nil before the verification
}

// Unfinished tells whether a rebuild has work left.
func (r Rebuild) Unfinished() bool { return r.Progress != nil }
