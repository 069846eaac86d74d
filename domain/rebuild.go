package domain

import (
	"cmp"
	"math"
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
	Rate       float64       // streams a second in this phase; 0 if unknown
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
	Wrong     []string          `json:"wrong"`     // the first few rows that differ from an independent fold
	Changed   map[string]int64  `json:"changed"`   // items that differ from the active version, by column
	Intended  []string          `json:"intended"`  // columns that the change means to change
	Repair    bool              `json:"repair"`    // the active version is known to be wrong, so no difference is refused
	Overlap   float64           `json:"overlap"`   // of the first ten hits, in searches for the items' own tasks
	Searches  int               `json:"searches"`
	Impact    RebuildImpact     `json:"impact"`
}

// Repaired tells whether the new version replaced one that did not match the log.
func (r RebuildReport) Repaired() bool { return r.Repair && r.HasUnintendedChange() }

// HasUnintendedChange tells whether a column differs that the rebuild did not mean to change.
func (r RebuildReport) HasUnintendedChange() bool {
	for column := range r.Changed {
		if !slices.Contains(r.Intended, column) {
			return true
		}
	}
	return false
}

// RebuildPlan estimates a rebuild: bytes from the size of the active version, time from a sample of the log that was
// folded for the plan.
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
	Took       time.Duration // estimated time; 0 if there is nothing to sample
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

// RebuildImpact compares a new version with the active one for readers: confidences that change, and answers that
// differ. It names items and contains no text.
type RebuildImpact struct {
	Confidence ConfidenceImpact `json:"confidence"`
	Answers    AnswerImpact     `json:"answers"`
}

// ConfidenceImpact summarises changes of confidence over the items that answers may contain.
type ConfidenceImpact struct {
	Items   int64            `json:"items"`
	Raised  int64            `json:"raised"`
	Lowered int64            `json:"lowered"`
	Moved   float64          `json:"moved"`  // sum of the absolute changes
	Before  [10]int64        `json:"before"` // number of items by tenths of confidence
	After   [10]int64        `json:"after"`
	Most    []ConfidenceMove `json:"most"` // the [mostMoves] largest changes
}

// ConfidenceMove is an item whose confidence changes.
type ConfidenceMove struct {
	Tenant    string  `json:"tenant"`
	ID        string  `json:"id"`
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
	Helpful   int     `json:"helpful"`
	Harmful   int     `json:"harmful"`
	Reporters int     `json:"reporters"`
}

// mostMoves limits the items, and the answers, that an impact names.
const mostMoves = 10

// Note adds an item, changed or not.
func (c *ConfidenceImpact) Note(m ConfidenceMove) {
	c.Items++
	c.Before[tenth(m.Before)]++
	c.After[tenth(m.After)]++
	switch {
	case m.After > m.Before:
		c.Raised++
	case m.After < m.Before:
		c.Lowered++
	default:
		return
	}
	c.Moved += m.distance()
	c.Most = keepMost(c.Most, m, func(a, b ConfidenceMove) int {
		return cmp.Or(cmp.Compare(b.distance(), a.distance()), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
}

func (m ConfidenceMove) distance() float64 { return math.Abs(m.After - m.Before) }

func tenth(confidence float64) int { return min(max(int(confidence*10), 0), 9) }

// AnswerImpact summarises how the answers to searches for the items' own tasks differ.
type AnswerImpact struct {
	Others    int          `json:"others"`    // answers with other items among the first ten
	Reordered int          `json:"reordered"` // answers with the same items in another order
	First     int          `json:"first"`     // answers with another first item
	Most      []AnswerMove `json:"most"`      // the [mostMoves] that differ most
}

// AnswerMove is an answer that differs.
type AnswerMove struct {
	Tenant string   `json:"tenant"`
	ID     string   `json:"id"`   // the item whose task was searched for
	Same   float64  `json:"same"` // the share of items that both answers have
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Note adds an answer, different or not.
func (a *AnswerImpact) Note(m AnswerMove) {
	if slices.Equal(m.Before, m.After) {
		return
	}
	if m.Same < 1 {
		a.Others++
	} else {
		a.Reordered++
	}
	if len(m.Before) == 0 || len(m.After) == 0 || m.Before[0] != m.After[0] {
		a.First++
	}
	a.Most = keepMost(a.Most, m, func(a, b AnswerMove) int {
		return cmp.Or(cmp.Compare(a.Same, b.Same), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
}

// keepMost inserts a value into a sorted list and keeps the first few.
func keepMost[T any](list []T, value T, compare func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, value, compare)
	if at == mostMoves {
		return list
	}
	list = slices.Insert(list, at, value)
	return list[:min(len(list), mostMoves)]
}
