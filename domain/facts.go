package domain

import (
	"encoding/json"
	"time"
)

// Fact is something that happened, in the past tense. Its name never changes: events carry it for ever.
//
// The field tags say how a fact is recorded. Fields with the tag data stay for ever, fields with the tag text can be
// erased. See package events/codec.
type Fact interface {
	// Name is the stable name under which the fact is recorded, such as "knowledge.remembered".
	Name() string
}

// Remembered began an item.
type Remembered struct {
	Text Text // first, so that its fields come first in the text
	Class
	Scopes      []Scope  `data:"scopes"`
	Owner       Entity   `data:"owner"`
	Source      Source   `data:"source,omitzero" text:"source,omitzero"`
	Baseline    *Eval    `data:"baseline,omitempty" text:"baseline,omitempty"` // nil for [DefaultBaseline]
	DerivedFrom []string `data:"derived_from,omitempty"`                       // ids of the events it was made from
	Proposed    bool     `data:"proposed,omitempty"`                           // withheld until it is accepted
}

// Accepted ended the proposal of an item: its readers see it.
type Accepted struct {
	By       Entity `data:"by"`                 // the steward who accepted it, and so confirmed it
	Verifier Entity `data:"verifier,omitempty"` // as in [Confirmed]
	Reason   string `text:"reason,omitempty"`
}

// ItemQuarantined withheld an item from its readers.
type ItemQuarantined struct {
	Containment string `data:"containment"` // the id of the containment
	Was         Status `data:"was"`         // the status that it had
	Reason      string `text:"reason,omitempty"`
}

// Readmitted ended the quarantine of an item.
type Readmitted struct {
	Containment string `data:"containment"`
	Status      Status `data:"status"` // which the item has again
	Reason      string `text:"reason,omitempty"`
}

// VotesDiscounted took votes out of the count. They stay votes: a voter can replace and retract them.
type VotesDiscounted struct {
	Containment string   `data:"containment"`
	Votes       []string `data:"votes"` // their event ids
}

// VotesRecounted lets votes count again.
type VotesRecounted struct {
	Containment string   `data:"containment"`
	Votes       []string `data:"votes"`
}

// Rescoped gave an item a new audience: Scopes is the whole new set.
type Rescoped struct {
	Scopes []Scope `data:"scopes"`
	Reason string  `text:"reason,omitempty"`
}

// Transferred gave an item a new owner.
type Transferred struct {
	Owner  Entity `data:"owner"`
	Reason string `text:"reason,omitempty"`
}

// Moved gave an item another URI.
type Moved struct {
	URI    string `text:"uri,omitempty"`
	Reason string `text:"reason,omitempty"`
}

// FoundHelpful is a vote for an item.
type FoundHelpful struct{ Ballot }

// FoundHarmful is a vote against an item.
type FoundHarmful struct{ Ballot }

// Ballot is the data of a vote.
type Ballot struct {
	Voter    Entity `data:"voter"`
	Key      string `data:"ballot"` // which of the voter's votes this is; see [BallotOf]
	TraceID  string `data:"trace_id,omitempty"`
	Replaces string `data:"replaces,omitempty"` // the event id of the vote that this one replaces; may be empty
	ActsFor  Entity `data:"acts_for,omitempty"` // the item's owner, if the voter's key acts for or belongs to it
	Query    string `text:"query,omitempty"`
	Outcome  string `text:"outcome,omitempty"`
}

// FeedbackRetracted took a vote back.
type FeedbackRetracted struct {
	Vote string `data:"vote"` // the vote's event id
}

// ReportedStale says that a reader found the item out of date.
type ReportedStale struct {
	Reporter Entity `data:"reporter"`
	Reason   string `text:"reason,omitempty"`
}

// Confirmed says that the item is still correct: earlier reports of staleness no longer count.
type Confirmed struct {
	Until    time.Time `data:"until,omitzero"`     // zero for no end
	Verifier Entity    `data:"verifier,omitempty"` // whom the policy of the item names, if the caller is or belongs to it
	Reason   string    `text:"reason,omitempty"`
}

// Superseded says that another item replaced this one.
type Superseded struct {
	By      string `data:"by"`                // the other item's id
	Carried bool   `data:"carried,omitempty"` // its votes count for the other item
	Reason  string `text:"reason,omitempty"`
}

// Merged says that the item took the place of others, which it superseded in the same transaction.
type Merged struct {
	Items       []string `data:"items"`             // ids of the others
	Helpful     int      `data:"helpful,omitempty"` // votes for the others that count for this item from now on
	Harmful     int      `data:"harmful,omitempty"` // votes against them
	Votes       []Vote   `data:"votes,omitempty"`   // these votes; earlier releases carried only their numbers
	DerivedFrom []string `data:"derived_from"`      // ids of the newest events of the others
	Trust       Trust    `data:"trust,omitempty"`   // of the item from now on; empty if it stays
	Revises     bool     `data:"revises,omitempty"` // the next event of the item is the change of its text by the merge
	Reason      string   `text:"reason,omitempty"`
}

// Unmerged undid a merge.
type Unmerged struct {
	Merge   string   `data:"merge"`             // its event id
	Items   []string `data:"items,list"`        // ids of the items that were restored
	Helpful int      `data:"helpful,omitempty"` // votes that do not count for this item any more
	Harmful int      `data:"harmful,omitempty"`
	Votes   []string `data:"votes,omitempty"` // their event ids
	Reason  string   `text:"reason,omitempty"`
}

// Deleted removed the item from the answers. Its history stays.
type Deleted struct {
	Proposed bool   `data:"proposed,omitempty"` // it waited for approval
	Reason   string `text:"reason,omitempty"`
}

// Restored brought a deleted or superseded item back.
type Restored struct {
	Proposed bool   `data:"proposed,omitempty"` // it waits for approval again
	Reason   string `text:"reason,omitempty"`
}

// Held put the item under legal hold.
type Held struct {
	ReasonCode string `data:"reason_code"`
	Ticket     string `data:"ticket,omitempty"`
}

// Released ended the legal hold.
type Released struct {
	ReasonCode string `data:"reason_code"`
	Ticket     string `data:"ticket,omitempty"`
}

// Erased destroyed the item's text for good.
type Erased struct {
	ReasonCode  string   `data:"reason_code"`
	LegalBasis  string   `data:"legal_basis,omitempty"`
	RequestedBy string   `data:"requested_by,omitempty"`
	Ticket      string   `data:"ticket,omitempty"`
	Events      []string `data:"events,list"` // ids of the events that lost their text
}

func (Remembered) Name() string        { return "knowledge.remembered" }
func (Revised) Name() string           { return "knowledge.revised" }
func (Rescoped) Name() string          { return "knowledge.rescoped" }
func (Transferred) Name() string       { return "knowledge.transferred" }
func (Moved) Name() string             { return "knowledge.moved" }
func (FoundHelpful) Name() string      { return "knowledge.found_helpful" }
func (FoundHarmful) Name() string      { return "knowledge.found_harmful" }
func (FeedbackRetracted) Name() string { return "knowledge.feedback_retracted" }
func (ReportedStale) Name() string     { return "knowledge.reported_stale" }
func (Confirmed) Name() string         { return "knowledge.confirmed" }
func (Superseded) Name() string        { return "knowledge.superseded" }
func (Merged) Name() string            { return "knowledge.merged" }
func (Unmerged) Name() string          { return "knowledge.unmerged" }
func (Deleted) Name() string           { return "knowledge.deleted" }
func (Restored) Name() string          { return "knowledge.restored" }
func (Held) Name() string              { return "knowledge.held" }
func (Released) Name() string          { return "knowledge.released" }
func (Erased) Name() string            { return "knowledge.erased" }
func (Accepted) Name() string          { return "knowledge.accepted" }
func (ItemQuarantined) Name() string   { return "knowledge.quarantined" }
func (Readmitted) Name() string        { return "knowledge.readmitted" }
func (VotesDiscounted) Name() string   { return "knowledge.votes_discounted" }
func (VotesRecounted) Name() string    { return "knowledge.votes_recounted" }

// Linked related an item to another one.
type Linked struct {
	To     string `data:"to"` // the other item's id
	Reason string `text:"reason,omitempty"`
}

// Unlinked removed a relation.
type Unlinked struct {
	To string `data:"to"`
}

func (Linked) Name() string { return "relation.linked" }

func (Unlinked) Name() string { return "relation.unlinked" }

// Redacted replaced the text of an event of the same stream, because scrubbing found secrets in it. Readers of that
// event get the new text.
type Redacted struct {
	Events   []string        `data:"events"`   // ids: the event with the replaced text, and its earlier redactions
	Redacted map[string]int  `data:"redacted"` // what was taken out, by class
	Text     json.RawMessage `text:"*"`
}

// TextsErased destroyed the texts of a stream that is neither an item nor a session.
type TextsErased struct {
	ReasonCode  string   `data:"reason_code"`
	LegalBasis  string   `data:"legal_basis,omitempty"`
	RequestedBy string   `data:"requested_by,omitempty"`
	Ticket      string   `data:"ticket,omitempty"`
	Events      []string `data:"events,list"` // ids of the events that lost their text
}

func (Redacted) Name() string    { return "text.redacted" }
func (TextsErased) Name() string { return "text.erased" }

// Destroys are the ids of the events whose texts a fact destroys.
func Destroys(fact Fact) []string {
	switch f := fact.(type) {
	case Erased:
		return f.Events
	case SessionErased:
		return f.Events
	case TextsErased:
		return f.Events
	case Redacted:
		return f.Events
	}
	return nil
}
