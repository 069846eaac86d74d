package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// EventMetadata is the part of an event's envelope that the state of an item depends on.
type EventMetadata struct {
	EventID    string
	Position   int64
	Version    int64 // of the stream; the first is 1
	RecordedAt time.Time
	OccurredAt time.Time // zero if the caller did not say
	Actor      Entity
	OnBehalfOf Entity

	Authentication string
}

// Evolve folds one fact into the state. The facts of a stream must come in order of their versions, each once, and
// begin with [Remembered]. An error leaves the state as it was. It reports a gap in the versions, a fact of another
// kind, or the replacement of a vote that is not among k.Votes.
//
// Live appends, catch-up and rebuilds share this function. The result depends on the item's own stream alone.
func (k *Knowledge) Evolve(fact Fact, at EventMetadata, policy ConfidencePolicy) error {
	if at.Version != k.Version+1 {
		return fmt.Errorf("fold %s: version %d follows %d", fact.Name(), at.Version, k.Version)
	}
	if _, begins := fact.(Remembered); begins == k.Exists() {
		return fmt.Errorf(
			"fold %s as version %d: a stream begins with %s, once", fact.Name(), at.Version, Remembered{}.Name(),
		)
	}
	if vote := retractedVote(fact); vote != "" && !k.removeVote(vote, policy) {
		return fmt.Errorf("fold %s: no vote %s", fact.Name(), vote)
	}
	before := k.Revision
	switch f := fact.(type) {
	case Remembered:
		k.remember(f, at, policy)
	case Revised:
		k.revise(f)
	case Rescoped:
		k.Scopes = slices.Clone(f.Scopes)
		k.Revision++
	case Transferred:
		k.Owner = f.Owner
		k.Revision++
		weighAnew(k, policy)
	case Moved:
		k.Text.URI = f.URI
		k.Revision++
	case FoundHelpful:
		k.cast(Helpful, f.Ballot, at, policy)
	case FoundHarmful:
		k.cast(Harmful, f.Ballot, at, policy)
	case FeedbackRetracted: // the vote is removed already
	case ReportedStale:
		k.report(f, at)
	case Confirmed:
		k.confirm(f, at)
	case Superseded:
		if k.SupersededBy = f.By; !k.Status.Withheld() {
			k.Status = IsSuperseded
		}
		k.Revision++
	case Accepted:
		k.Status = Active
		k.confirm(Confirmed{}, at)
		k.Revision++
	case ItemQuarantined:
		k.Status = IsQuarantined
		k.Revision++
	case Readmitted:
		if k.Status = f.Status; k.Status == Active && k.SupersededBy != "" { // superseded meanwhile
			k.Status = IsSuperseded
		}
		k.Revision++
	case Merged:
		for _, v := range f.Votes {
			k.addVote(v, policy)
		}
		if len(f.Votes) == 0 { // earlier releases carried sums
			k.Helpful, k.Harmful = counted(k.Helpful, f.Helpful), counted(k.Harmful, f.Harmful)
		}
		k.DerivedFrom = append(slices.Clip(k.DerivedFrom), f.DerivedFrom...)
		k.lower(f.Trust)
		k.Revision++
	case Unmerged: // its history still has texts of the others
		for _, vote := range f.Votes {
			k.removeVote(vote, policy)
		}
		if len(f.Votes) == 0 {
			k.Helpful, k.Harmful = counted(k.Helpful, -f.Helpful), counted(k.Harmful, -f.Harmful)
		}
		k.Revision++
	case VotesDiscounted:
		k.judgeAgain(f.Votes, policy, func(v Verdict) Verdict { return discounted + v })
	case VotesRecounted:
		k.judgeAgain(f.Votes, policy, func(v Verdict) Verdict { return Verdict(strings.TrimPrefix(string(v), discounted)) })
	case Deleted:
		k.Status = IsDeleted
		k.Revision++
	case Restored:
		if k.restore(); f.Proposed {
			k.Status = IsProposed
		}
	case Held:
		k.Held = true
		k.Revision++
	case Released:
		k.Held = false
		k.Revision++
	case Linked:
		k.link(f, at)
	case Unlinked:
		k.unlink(f.To)
		k.Revision++
	case Redacted: // readers of the replaced event get the new text
		k.Revision++
	case Erased:
		k.erase()
	default:
		return fmt.Errorf("fold %s: not a fact about knowledge", fact.Name())
	}
	k.Version, k.Position = at.Version, at.Position
	if k.Revision != before {
		k.UpdatedAt = at.RecordedAt
	}
	k.Rate(policy)
	return nil
}

func (k *Knowledge) remember(f Remembered, at EventMetadata, policy ConfidencePolicy) {
	baseline := DefaultBaseline()
	if f.Baseline != nil {
		baseline = *f.Baseline
	}
	k.Number = at.Position
	k.Class, k.Scopes, k.Owner = f.Class, slices.Clone(f.Scopes), f.Owner
	k.Source, k.Text, k.DerivedFrom = f.Source, f.Text, f.DerivedFrom
	k.Baseline, k.Helpful, k.Harmful = baseline, baseline.Helpful, baseline.Harmful
	if k.Status, k.Revision = Active, 1; f.Proposed {
		k.Status = IsProposed
	}
	k.CreatedAt, k.OccurredAt = at.RecordedAt, at.OccurredAt
	if policy.Weighs != nil || f.Proposed {
		k.Voices.Authors = slices.DeleteFunc([]Entity{at.Actor, at.OnBehalfOf}, func(e Entity) bool { return e == "" })
	}
}

// restore gives a deleted item its former status. A superseded item becomes active again.
func (k *Knowledge) restore() {
	if k.Status == IsDeleted && k.SupersededBy != "" {
		k.Status = IsSuperseded
	} else {
		k.Status, k.SupersededBy = Active, ""
	}
	k.Revision++
}

// retractedVote is the event id of the vote that a fact replaces or retracts, or empty.
func retractedVote(fact Fact) string {
	switch f := fact.(type) {
	case FoundHelpful:
		return f.Replaces
	case FoundHarmful:
		return f.Replaces
	case FeedbackRetracted:
		return f.Vote
	}
	return ""
}

// cast adds a vote. One that acts for the owner makes its voter one voice with them, earlier votes included.
func (k *Knowledge) cast(verdict Verdict, b Ballot, at EventMetadata, policy ConfidencePolicy) {
	if b.ActsFor != "" && policy.Weighs != nil && !isOwn(k, b.Voter) {
		k.Voices.Agents = append(slices.Clip(k.Voices.Agents), b.Voter)
		weighAnew(k, policy)
	}
	k.addVote(Vote{
		EventID: at.EventID, Voter: b.Voter, Ballot: b.Key, Verdict: verdict,
		TraceID: b.TraceID, Query: b.Query, Outcome: b.Outcome, At: at.RecordedAt,
	}, policy)
}

func (k *Knowledge) addVote(v Vote, policy ConfidencePolicy) {
	if k.Votes == nil {
		k.Votes = map[string]Vote{}
	}
	policy.count(k, v, +1)
	k.Votes[v.EventID] = v
}

// weighAnew weighs the votes again, for another owner or another agent of theirs.
func weighAnew(k *Knowledge, policy ConfidencePolicy) {
	if policy.Weighs == nil {
		return
	}
	votes, helpful, harmful := k.Votes, k.Helpful, k.Harmful
	k.Votes, k.Voices = nil, Voices{Authors: k.Voices.Authors, Agents: k.Voices.Agents}
	for _, v := range votes {
		k.addVote(v, policy)
	}
	k.Helpful, k.Harmful = helpful, harmful
}

// judgeAgain gives votes another verdict. Those that were replaced or retracted meanwhile are passed over.
func (k *Knowledge) judgeAgain(votes []string, policy ConfidencePolicy, verdict func(Verdict) Verdict) {
	for _, id := range votes {
		if v, found := k.Votes[id]; found {
			k.removeVote(id, policy)
			v.Verdict = verdict(v.Verdict)
			k.addVote(v, policy)
		}
	}
}

func (k *Knowledge) removeVote(eventID string, policy ConfidencePolicy) bool {
	vote, found := k.Votes[eventID]
	if !found {
		return false
	}
	delete(k.Votes, eventID)
	policy.count(k, vote, -1)
	return true
}

// Rate computes the confidence, and the confidence once the confirmation has expired, from the counts.
func (k *Knowledge) Rate(policy ConfidencePolicy) {
	k.Confidence, k.ExpiredConfidence = policy.Rate(k, k.Stale.Reporters), 0
	if !k.ConfirmUntil.IsZero() {
		k.ExpiredConfidence = policy.Rate(k, k.Stale.Reporters+k.Suspended.Reporters)
	}
}

func (k *Knowledge) report(f ReportedStale, at EventMetadata) {
	if k.Reports == nil {
		k.Reports = map[Entity]Report{}
	}
	earlier, again := k.Reports[f.Reporter]
	if !again || earlier.Suspended {
		k.Stale.Reporters++
	}
	if earlier.Suspended { // a reporter counts once
		k.Suspended.Reporters--
	}
	if k.Stale.Since.IsZero() {
		k.Stale.Since = at.RecordedAt
	}
	if f.Reason != "" {
		k.Stale.Reason = f.Reason
	}
	k.Reports[f.Reporter] = Report{EventID: at.EventID, Reporter: f.Reporter, Reason: f.Reason, At: at.RecordedAt}
}

// confirm ends the reports, for ever or until the confirmation expires.
func (k *Knowledge) confirm(f Confirmed, at EventMetadata) {
	k.ConfirmedAt, k.ConfirmUntil = at.RecordedAt, f.Until
	if f.Until.IsZero() {
		k.Reports, k.Stale, k.Suspended = nil, Staleness{}, Staleness{}
		return
	}
	k.Suspended, k.Stale = k.Stale.plus(k.Suspended), Staleness{}
	k.Reports = maps.Clone(k.Reports)
	for reporter, report := range k.Reports {
		report.Suspended = true
		k.Reports[reporter] = report
	}
}

// erase leaves a tombstone: an item without texts and relations.
func (k *Knowledge) erase() {
	k.ClearText()
	k.Relations = nil
	k.Status = IsErased
	k.Revision++
}

// ClearText removes the texts.
func (k *Knowledge) ClearText() {
	k.Text = Text{}
	k.Relations = slices.Clone(k.Relations)
	for i := range k.Relations {
		k.Relations[i].Reason = ""
	}
	k.Source.Name, k.Source.URLs = "", nil
	k.Baseline.HelpfulHistory, k.Baseline.HarmfulHistory = nil, nil
	for id, vote := range k.Votes {
		vote.Query, vote.Outcome = "", ""
		k.Votes[id] = vote
	}
	for reporter, report := range k.Reports {
		report.Reason = ""
		k.Reports[reporter] = report
	}
	k.Stale.Reason, k.Suspended.Reason = "", ""
}
