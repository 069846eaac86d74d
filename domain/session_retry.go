package domain

import (
	"maps"
	"slices"
	"time"
)

// Failure is an archive of which nothing could be made so far.
type Failure struct {
	Task           string    `json:"task"`
	At             time.Time `json:"at"`                // of the last attempt
	Retries        int       `json:"retries,omitempty"` // that were asked for, this one included
	RetryRequested bool      `json:"asked,omitempty"`   // another attempt is asked for, and still to come
}

// retryDelays are how long a failed archive is left alone before it is tried again: what is wrong may be a key that somebody has
// to change. After the last only people ask.
var retryDelays = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// MaxRetryPeriod is how long after a failure nobody but people tries again.
const MaxRetryPeriod = 48 * time.Hour

// mostFailures is how many failed archives a session remembers, the newest: what a stream has come to must not grow with it.
const mostFailures = 100

// Due tells whether a failed archive is to be tried again by itself.
func (f Failure) Due(now time.Time) bool {
	return !f.RetryRequested && f.Retries < len(retryDelays) && now.Sub(f.At) >= retryDelays[f.Retries]
}

// Unextracted are the archives of which nothing could be made, and of which something still can be, in their order. Those of
// before a deletion are left out.
func (s Session) Unextracted() []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Failures)), func(archive int) bool { return archive <= s.Before })
}

// Due tells whether an archive of the session is to be tried again by itself.
func (s Session) Due(now time.Time) bool {
	return s.Open() && slices.ContainsFunc(s.Unextracted(), func(archive int) bool { return s.Failures[archive].Due(now) })
}

// RetryExtraction asks to try failed archives of a session again: one, or all of them. What did not fail, or is asked for
// already, is left as it is.
type RetryExtraction struct {
	SessionTarget
	Archive int  // 0 for all
	OnlyDue bool // asked by the clock, not by somebody: see [Failure.Due]
}

// Validate names every bad field at once.
func (c RetryExtraction) Validate() error {
	var p Problems
	c.check(&p)
	if c.Archive < 0 {
		p.Add("archive", "must be the number of an archive")
	}
	return p.Err()
}

// Decide implements [Command].
func (c RetryExtraction) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil {
		return nil, err
	}
	if !s.Open() {
		return nil, NoSession(c.ID)
	}
	var facts []Fact
	for _, archive := range s.Unextracted() {
		failure := s.Failures[archive]
		if c.Archive != 0 && c.Archive != archive || failure.RetryRequested || c.OnlyDue && !failure.Due(now) {
			continue
		}
		facts = append(facts, ExtractionRequested{Task: failure.Task, Archive: archive, Retry: failure.Retries + 1})
	}
	return facts, nil
}

// failed is the session with an archive of which nothing could be made; with nothing left of what was said nothing ever can.
func (s Session) failed(f ExtractionFailed, at time.Time) Session {
	failure, again := s.Failures[f.Archive]
	if !again && f.Archive > s.Before {
		s.Failed++
	}
	s.Failures = maps.Clone(s.Failures)
	if f.Lost {
		delete(s.Failures, f.Archive)
		return s
	}
	if s.Failures == nil {
		s.Failures = map[int]Failure{}
	}
	s.Failures[f.Archive] = Failure{Task: f.Task, At: at, Retries: failure.Retries}
	if len(s.Failures) > mostFailures {
		delete(s.Failures, slices.Min(slices.Collect(maps.Keys(s.Failures))))
	}
	return s
}

// recovered is the session with an archive of which something was made in the end.
func (s Session) recovered(archive int) Session {
	if _, failed := s.Failures[archive]; failed {
		if archive > s.Before {
			s.Failed--
		}
		s.Failures = maps.Clone(s.Failures)
		delete(s.Failures, archive)
	}
	return s
}

// retryRequested is the session with an attempt to come.
func (s Session) retryRequested(archive, retry int) Session {
	failure := s.Failures[archive]
	failure.RetryRequested, failure.Retries = true, retry
	s.Failures = maps.Clone(s.Failures)
	s.Failures[archive] = failure
	return s
}

var _ Command = RetryExtraction{}
