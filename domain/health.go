package domain

import "time"

// ScopeHealth says how well the active items of a scope are looked after.
type ScopeHealth struct {
	Scope     Scope // empty for all
	Items     int
	Verified  int           // confirmed, not reported stale since, and not overdue
	Stale     int           // reported stale since the last confirmation, or with an expired one
	Contested int           // see [Rating.Contested]
	Overdue   int           // see [Verification.Overdue]
	Unowned   int           // whose owner was deactivated
	New       int           // remembered less than [NewFor] ago, never voted on, and none of the above but Unowned
	Doubtful  int           // stale, contested, overdue, or with a confidence below [LowConfidence]
	MedianAge time.Duration // since they were remembered
}

// Share is n of the items, 0 to 1.
func (h ScopeHealth) Share(n int) float64 { return float64(n) / float64(max(h.Items, 1)) }
