package domain

import (
	"encoding/json"
	"time"
)

// Fact is something that happened, in the past tense. Its name is a promise: it never changes,
// and events carry it for ever.
type Fact interface {
	// Name is the stable name under which the fact is recorded, such as "knowledge.remembered".
	Name() string
}

// Remembered began an item.
type Remembered struct {
	Type        Type
	ContextType ContextType
	Category    Category
	Polarity    Polarity
	Media       Media
	Scopes      []Scope
	Owner       Entity
	Source      Source
	Baseline    *Eval    // nil for [DefaultBaseline]
	DerivedFrom []string // ids of the events it was made from
	Text        Text
}

// Revised changed an item; nil fields were left alone, empty ones were cleared.
type Revised struct {
	Type     *Type
	Category *Category
	Polarity *Polarity
	Task     *string
	Content  *string
	Abstract *string
	Overview *string
	Tags     *Tags
	Meta     *json.RawMessage
	Reason   string // why, as somebody wrote it; no change by itself
}

// Rescoped gave an item a new audience: Scopes is the whole new set.
type Rescoped struct {
	Scopes []Scope
	Reason string
}

// Transferred gave an item a new owner.
type Transferred struct {
	Owner  Entity
	Reason string
}

// Moved gave an item another URI.
type Moved struct{ URI, Reason string }

// FoundHelpful is a voice for an item.
type FoundHelpful struct{ Ballot }

// FoundHarmful is a voice against an item.
type FoundHarmful struct{ Ballot }

// Ballot is what was said in a vote.
type Ballot struct {
	Voter    Entity
	Key      string // which of the voter's voices this is; see [BallotOf]
	TraceID  string
	Replaces string // the event id of the voice that this one replaces; may be empty
	Query    string
	Outcome  string
}

// FeedbackRetracted took a vote back.
type FeedbackRetracted struct{ Vote string } // the vote's event id

// ReportedStale says that somebody found the item out of date.
type ReportedStale struct {
	Reporter Entity
	Reason   string
}

// Confirmed says that the item still holds: earlier reports of staleness no longer count.
type Confirmed struct {
	Until  time.Time // zero for no end
	Reason string
}

// Superseded says that another item took this one's place.
type Superseded struct {
	By     string // the other item's id
	Reason string
}

// Deleted forgot the item: it leaves the answers and stays in the history.
type Deleted struct{ Reason string }

// Restored brought a deleted or superseded item back.
type Restored struct{ Reason string }

// Held put the item under legal hold.
type Held struct{ ReasonCode, Ticket string }

// Released ended the legal hold.
type Released struct{ ReasonCode, Ticket string }

// Erased destroyed the item's text for good.
type Erased struct {
	ReasonCode  string
	LegalBasis  string
	RequestedBy string
	Ticket      string
	Events      []string // ids of the events that lost their text
}

// Name implements [Fact].
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
func (Deleted) Name() string           { return "knowledge.deleted" }
func (Restored) Name() string          { return "knowledge.restored" }
func (Held) Name() string              { return "knowledge.held" }
func (Released) Name() string          { return "knowledge.released" }
func (Erased) Name() string            { return "knowledge.erased" }
