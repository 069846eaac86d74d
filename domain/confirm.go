package domain

import "time"

// Confirm asks to record that the item is still correct. The caller must be a steward of it. A repeated
// confirmation is recorded again, with its time.
type Confirm struct {
	Target
	Until  time.Time // zero for no end
	Reason string
}

// Validate names every bad field at once.
func (c Confirm) Validate() error { return checkReason(c.Reason) }

func (c Confirm) Reads() Reads { return Reads{Reports: true} }

func (c Confirm) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k, err := c.stewarded(dc)
	if err != nil {
		return nil, err
	}
	return c.confirm(dc, k, "until", Confirmed{Until: c.Until, Reason: c.Reason}, now)
}

// confirm adds to a confirmation of k in which capacity the caller confirms. The field has its end.
func (t Target) confirm(dc DecisionContext, k *Knowledge, field string, f Confirmed, now time.Time) ([]Fact, error) {
	if !f.Until.IsZero() && !f.Until.After(now) {
		var p Problems
		p.Add(field, "must be in the future")
		return nil, p.Err()
	}
	f.Verifier = t.By.verifier(k, StateOf[Verification](dc, VerificationStream))
	return []Fact{f}, nil
}

// At is the item as of a time. Once its confirmation has expired, the item says so and its earlier reports count
// again. Keep folding the original item, not this copy.
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
