package domain

import (
	"cmp"
	"slices"
	"time"
)

// GiveFeedback asks to count a vote for or against an item. A second vote on the same trace (without a trace: on the
// same day) replaces the first. An identical vote changes nothing. A voter has at most [MostTraces] votes a day on an
// item.
type GiveFeedback struct {
	Target
	Verdict Verdict
	Query   string
	TraceID string
	Outcome string
	Said    bool      // the voter said the same in the session task TraceID
	Day     time.Time // the vote's day (UTC); if zero, a vote with a trace has no daily limit
}

// MostTraces limits the votes that a voter gives or changes on one item in a day.
const MostTraces = 10

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
	if c.Said {
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

// plus adds reports that were made earlier.
func (s Staleness) plus(earlier Staleness) Staleness {
	s.Reporters += earlier.Reporters
	s.Reason = cmp.Or(s.Reason, earlier.Reason)
	if !earlier.Since.IsZero() {
		s.Since = earlier.Since
	}
	return s
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
