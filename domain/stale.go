package domain

import (
	"cmp"
	"time"
)

// ReportStale asks to record that the item is out of date. A reporter counts once until the item is confirmed. An
// identical report changes nothing.
type ReportStale struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c ReportStale) Validate() error { return checkReason(c.Reason) }

func (c ReportStale) Reads() Reads { return Reads{Reports: true} }

func (c ReportStale) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k, err := c.usable(dc)
	if err != nil {
		return nil, err
	}
	reporter := c.By.EffectiveSubject()
	if earlier, again := k.Reports[reporter]; again && (!earlier.Suspended || k.expired(now)) &&
		(c.Reason == "" || c.Reason == earlier.Reason) {
		return nil, nil
	}
	return []Fact{ReportedStale{Reporter: reporter, Reason: c.Reason}}, nil
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
