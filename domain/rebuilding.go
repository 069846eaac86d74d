package domain

import "time"

// RebuildPlan is what a rebuild would take. Bytes and time are estimates: bytes from the size of the
// active version, time from a sample of the log that was folded for the plan.
type RebuildPlan struct {
	Projection string
	Active     int               // the version that is read
	Version    int               // that would be built
	Settings   map[string]string // that it would be built with
	Intended   []string          // columns that will differ because of them
	Streams    int64
	Events     int64
	Bytes      int64         // of the new version
	Need       int64         // bytes of disk while it is being built, what it leaves included
	Free       *int64        // bytes of disk there are; nil if nobody can say
	Took       time.Duration // 0 if there is nothing to sample
}

// RebuildOrder says what a rebuild is for. The zero value computes what the active version says anew, as
// this program computes it.
type RebuildOrder struct {
	Confidence string // the name of a policy; empty for the active version's
	WhatIf     bool   // only to see what would change: what is built is never read, and thrown away
	Repair     bool   // the active version is known not to be what the log says: how they differ is reported, not refused
}

// Fits refuses a rebuild that there is not enough disk for. The error matches [ErrConflict].
func (p RebuildPlan) Fits() error {
	if p.Free == nil || p.Need <= *p.Free {
		return nil
	}
	const mega = 1 << 20
	return Refuse(ErrConflict, "a rebuild needs about %d MB of disk, and %d MB are free", p.Need/mega, *p.Free/mega).
		WithFix("make room, or retire the version that was active before")
}

// Rebuild is what became of the newest version that was built beside an active one.
type Rebuild struct {
	Projection string
	Active     int // the version that is read
	Version    int
	State      string // as in [ProjectionStatus]
	WhatIf     bool   // it was built only to be compared, and is thrown away
	Settings   map[string]string
	BeganAt    time.Time
	UpdatedAt  time.Time
	Error      string           // why it failed, or that it was cancelled
	Progress   *RebuildProgress // nil when there is nothing left to do
	Report     *RebuildReport   // nil until it was verified
}

// Unfinished tells whether a rebuild has work left.
func (r Rebuild) Unfinished() bool { return r.Progress != nil }
