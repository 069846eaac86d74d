package domain

import "time"

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
func (c ReportStale) Decide(book Book, _ time.Time) ([]Fact, error) {
	k, err := c.usable(book)
	if err != nil {
		return nil, err
	}
	reporter := c.By.Voter()
	if earlier, again := k.Reports[reporter]; again && (c.Reason == "" || c.Reason == earlier.Reason) {
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
func (c Confirm) Decide(book Book, now time.Time) ([]Fact, error) {
	if _, err := c.changeable(book); err != nil {
		return nil, err
	}
	if !c.Until.IsZero() && !c.Until.After(now) {
		var p Problems
		p.Add("until", "must be in the future")
		return nil, p.Err()
	}
	return []Fact{Confirmed{Until: c.Until, Reason: c.Reason}}, nil
}
