package domain

import (
	"cmp"
	"time"
)

// ReportStale asks to note that the item is out of date. One reporter counts once until the
// item is confirmed; the same report again changes nothing.
type ReportStale struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c ReportStale) Validate() error { return checkReason(c.Reason) }

// Reads implements [Command].
func (c ReportStale) Reads() Reads { return Reads{Reports: true} }

// Decide implements [Command].
func (c ReportStale) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k, err := c.usable(dc)
	if err != nil {
		return nil, err
	}
	reporter := c.By.EffectiveSubject()
	if earlier, again := k.Reports[reporter]; again && (!earlier.Suspended || k.expired(now)) && (c.Reason == "" || c.Reason == earlier.Reason) {
		return nil, nil
	}
	return []Fact{ReportedStale{Reporter: reporter, Reason: c.Reason}}, nil
}

// Confirm asks to note that the item still holds, for those who may change it. Repeated, it is
// recorded again: that it held at that time too is news.
type Confirm struct {
	Target
	Until  time.Time // zero for no end
	Reason string
}

// Validate names every bad field at once.
func (c Confirm) Validate() error { return checkReason(c.Reason) }

// Reads implements [Command].
func (c Confirm) Reads() Reads { return Reads{Reports: true} }

// Decide implements [Command].
func (c Confirm) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	if _, err := c.changeable(dc); err != nil {
		return nil, err
	}
	if !c.Until.IsZero() && !c.Until.After(now) {
		var p Problems
		p.Add("until", "must be in the future")
		return nil, p.Err()
	}
	return []Fact{Confirmed{Until: c.Until, Reason: c.Reason}}, nil
}

// At is the item as it stands at a time. Once its confirmation has expired, it says so, and the reports before the
// confirmation count again. Folding goes on with what it was made from.
func (k *Knowledge) At(now time.Time) *Knowledge {
	if !k.expired(now) {
		return k
	}
	then := *k
	then.Expired, then.Stale, then.Confidence = true, k.Stale.plus(k.Suspended), k.ExpiredConfidence
	return &then
}

func (k *Knowledge) expired(now time.Time) bool {
	return !k.ConfirmUntil.IsZero() && !k.ConfirmUntil.After(now)
}

// plus adds reports that were made earlier.
func (s Staleness) plus(earlier Staleness) Staleness {
	s.Reporters += earlier.Reporters
	s.Reason = cmp.Or(s.Reason, earlier.Reason)
	if !earlier.Since.IsZero() {
		s.Since = earlier.Since
	}
	return s
}
