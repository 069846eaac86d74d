package domain

import (
	"time"
)

// GiveFeedback asks to count a voice for or against an item. A second voice on the same trace
// (without a trace: on the same day) replaces the first; the same voice again changes nothing.
type GiveFeedback struct {
	Target
	Verdict Verdict
	Query   string
	TraceID string
	Outcome string
	Day     time.Time // the day of a vote without a trace
}

// Validate names every bad field at once.
func (c GiveFeedback) Validate() error {
	var p Problems
	oneOf(&p, "verdict", c.Verdict, Verdicts, true)
	atMost(&p, "query", c.Query, maxReason)
	atMost(&p, "outcome", c.Outcome, maxReason)
	checkTrace(&p, "trace_id", c.TraceID)
	return p.Err()
}

func (c GiveFeedback) ballot() string { return BallotOf(c.TraceID, c.Day) }

// Reads implements [Command].
func (c GiveFeedback) Reads() Reads {
	return Reads{Voices: []BallotKey{{Voter: c.By.Voter(), Key: c.ballot()}}}
}

// Decide implements [Command].
func (c GiveFeedback) Decide(book Book, _ time.Time) ([]Fact, error) {
	k, err := c.usable(book)
	if err != nil {
		return nil, err
	}
	ballot := Ballot{
		Voter: c.By.Voter(), Key: c.ballot(), TraceID: c.TraceID, Query: c.Query, Outcome: c.Outcome,
	}
	if earlier, found := k.vote(ballot.Voter, ballot.Key); found {
		if earlier.Verdict == c.Verdict && earlier.Query == c.Query && earlier.Outcome == c.Outcome {
			return nil, nil
		}
		ballot.Replaces = earlier.EventID
	}
	if c.Verdict == Helpful {
		return []Fact{FoundHelpful{ballot}}, nil
	}
	return []Fact{FoundHarmful{ballot}}, nil
}

// usable finds an item that the caller may judge: whoever may read may vote and report, except
// auditors, who change nothing.
func (t Target) usable(book Book) (*Knowledge, error) {
	k, err := t.visible(book)
	if err != nil {
		return nil, err
	}
	if t.By.Role == Auditor {
		return nil, Refuse(ErrForbidden, "auditors change nothing")
	}
	if t.Revision != 0 && t.Revision != k.Revision {
		return nil, Refuse(ErrPrecondition, "%s is at revision %d, not %d", k.ID, k.Revision, t.Revision)
	}
	return k, nil
}

// RetractFeedback asks to take a vote back, named by its event or by its trace; with neither,
// today's vote without a trace. Only the voter and admins may.
type RetractFeedback struct {
	Target
	EventID string
	TraceID string
	Day     time.Time
}

// Reads implements [Command].
func (c RetractFeedback) Reads() Reads {
	if c.EventID != "" {
		return Reads{Votes: []string{c.EventID}}
	}
	return Reads{Voices: []BallotKey{{Voter: c.By.Voter(), Key: BallotOf(c.TraceID, c.Day)}}}
}

// Decide implements [Command].
func (c RetractFeedback) Decide(book Book, _ time.Time) ([]Fact, error) {
	k, err := c.usable(book)
	if err != nil {
		return nil, err
	}
	vote, found := k.Votes[c.EventID]
	if c.EventID == "" {
		vote, found = k.vote(c.By.Voter(), BallotOf(c.TraceID, c.Day))
	}
	if !found {
		return nil, Refuse(ErrNotFound, "%s has no such vote", k.ID)
	}
	if vote.Voter != c.By.Voter() && !c.By.Administers() {
		return nil, Refuse(ErrForbidden, "the vote is somebody else's")
	}
	return []Fact{FeedbackRetracted{Vote: vote.EventID}}, nil
}

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

// Confirm asks to note that the item still holds, for those who may change it.
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
func (c Confirm) Decide(book Book, _ time.Time) ([]Fact, error) {
	if _, err := c.changeable(book); err != nil {
		return nil, err
	}
	return []Fact{Confirmed{Until: c.Until, Reason: c.Reason}}, nil
}

// Supersede asks to let another item take this one's place.
type Supersede struct {
	Target
	Successor string // the other item's id
	Reason    string
}

// Validate names every bad field at once.
func (c Supersede) Validate() error {
	var p Problems
	checkID(&p, "by", c.Successor)
	if c.Successor == c.ID {
		p.Add("by", "must be another item")
	}
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

// Reads implements [Command].
func (c Supersede) Reads() Reads { return Reads{Items: []string{c.Successor}} }

// Decide implements [Command].
func (c Supersede) Decide(book Book, _ time.Time) ([]Fact, error) {
	k, err := c.changeable(book)
	if err != nil {
		return nil, err
	}
	successor := book.Knowledge(c.Successor)
	switch {
	case !c.By.MaySee(successor) || Gone(successor) != nil:
		var p Problems
		p.Add("by", "no such knowledge")
		return nil, p.Err()
	case successor.SupersededBy == k.ID:
		return nil, Refuse(ErrConflict, "%s is itself superseded by %s", successor.ID, k.ID)
	case k.SupersededBy == c.Successor:
		return nil, nil
	}
	return []Fact{Superseded{By: c.Successor, Reason: c.Reason}}, nil
}

// Delete asks to forget the item: it leaves the answers and stays in the history.
type Delete struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c Delete) Validate() error { return checkReason(c.Reason) }

// Decide implements [Command].
func (c Delete) Decide(book Book, _ time.Time) ([]Fact, error) {
	if _, err := c.changeable(book); err != nil {
		return nil, err
	}
	return []Fact{Deleted{Reason: c.Reason}}, nil
}

// Restore asks to bring a deleted or superseded item back.
type Restore struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c Restore) Validate() error { return checkReason(c.Reason) }

// Decide implements [Command].
func (c Restore) Decide(book Book, _ time.Time) ([]Fact, error) {
	k := book.Knowledge(c.ID)
	switch {
	case !c.By.MaySee(k):
		return nil, NotFound(c.ID)
	case k.Status == IsErased:
		return nil, Gone(k)
	}
	if err := c.check(k); err != nil {
		return nil, err
	}
	if k.Status == Active {
		return nil, nil
	}
	if holder := book.Holder(k.Text.URI); holder != "" && holder != k.ID {
		return nil, Refuse(ErrTaken, "the uri belongs to another item by now")
	}
	return []Fact{Restored{Reason: c.Reason}}, nil
}
