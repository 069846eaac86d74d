package domain

import (
	"slices"
	"time"
)

// GiveFeedback asks to count a vote for or against an item. A second vote on the same trace (without a trace: on the
// same day) replaces the first. An identical vote changes nothing. A voter has at most [MostTraces] votes a day on an
// item.
type GiveFeedback struct {
	Target
	Verdict  Verdict
	Query    string
	TraceID  string
	Outcome  string
	Repeated bool      // the voter said the same in the session task TraceID
	Day      time.Time // the vote's day (UTC); if zero, a vote with a trace has no daily limit
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

func (c GiveFeedback) ballot() string {
	if c.Repeated {
		return sessionBallot + c.TraceID
	}
	return BallotOf(c.TraceID, c.Day)
}

func (c GiveFeedback) Reads() Reads {
	return Reads{Voters: []Entity{c.By.EffectiveSubject()}}
}

func (c GiveFeedback) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.usable(dc)
	if err != nil {
		return nil, err
	}
	ballot := Ballot{
		Voter: c.By.EffectiveSubject(), Key: c.ballot(), TraceID: c.TraceID, Query: c.Query, Outcome: c.Outcome,
	}
	if k.Owner.isSomebody() && k.Owner != ballot.Voter &&
		slices.Contains(slices.Concat(c.By.ActsForOnly, c.By.Memberships), k.Owner) {
		ballot.ActsFor = k.Owner
	}
	if earlier, found := k.vote(ballot.Voter, ballot.Key); found {
		if earlier.Verdict == c.Verdict && earlier.Query == c.Query && earlier.Outcome == c.Outcome {
			return nil, nil
		}
		ballot.Replaces = earlier.EventID
	} else if !c.Day.IsZero() && k.votesSince(ballot.Voter, c.Day.UTC().Truncate(24*time.Hour)) >= MostTraces {
		return nil, Refuse(ErrConflict, "%s has %d votes of %s from this day (UTC) already", k.ID, MostTraces, ballot.Voter).
			WithFix("vote again after midnight UTC, or change a vote: send the trace_id that it has")
	}
	if c.Verdict == Helpful {
		return []Fact{FoundHelpful{ballot}}, nil
	}
	return []Fact{FoundHarmful{ballot}}, nil
}

// RetractFeedback asks to take a vote back. It names the vote by its event or its trace; with neither, it means
// today's vote without a trace. Only the voter and admins may do so.
type RetractFeedback struct {
	Target
	EventID string
	TraceID string
	Day     time.Time
}

// Validate names every bad field at once.
func (c RetractFeedback) Validate() error {
	var p Problems
	if c.EventID != "" {
		checkEventID(&p, "event_id", c.EventID)
	}
	checkTrace(&p, "trace_id", c.TraceID)
	return p.Err()
}

func (c RetractFeedback) Reads() Reads {
	if c.EventID != "" {
		return Reads{VotesOf: []string{c.ID}}
	}
	return Reads{Voters: []Entity{c.By.EffectiveSubject()}}
}

func (c RetractFeedback) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.usable(dc)
	if err != nil {
		return nil, err
	}
	vote, found := k.Votes[c.EventID]
	if c.EventID == "" {
		vote, found = k.vote(c.By.EffectiveSubject(), BallotOf(c.TraceID, c.Day))
	}
	if !found {
		return nil, Refuse(ErrNotFound, "%s has no such vote", k.ID)
	}
	if vote.Voter != c.By.EffectiveSubject() && !c.By.IsTenantAdmin() {
		return nil, Refuse(ErrForbidden, "the vote belongs to another voter")
	}
	return []Fact{FeedbackRetracted{Vote: vote.EventID}}, nil
}

// MemoryUse says how useful a memory has been, without its text.
type MemoryUse struct {
	Category Category
	Votes    int // for and against it, its baseline's included
	Created  time.Time
	Updated  time.Time
}

// Feedback is the record of an item's use: the newest 50 votes for and against.
type Feedback struct {
	Helpful []Use
	Harmful []Use
}
