package domain

import (
	"encoding/json"
	"time"
)

// Event is a fact as the log keeps it: with its place, its time and whoever caused it.
type Event struct {
	Tenant         string
	Position       int64 // in the tenant's log: 1, 2, 3 … without a gap
	EventID        string
	Stream         string // such as "knowledge:ID" or "session:USER/ID"
	Version        int64  // within the stream: 1, 2, 3 …
	Name           string
	SchemaVersion  int       // as recorded, before any upcasting
	RecordedAt     time.Time // UTC, microseconds; never decreases along a log
	OccurredAt     time.Time // when it happened in the world; zero if nobody said
	Actor          Entity
	OnBehalfOf     Entity
	Authentication string
	RequestID      string
	CorrelationID  string
	CausationID    string
	Traceparent    string
	ReasonCode     string
	Data           json.RawMessage // the plain fields: exactly the recorded bytes
	Text           json.RawMessage // what people wrote; nil if there is none, or if it was erased
	TextErased     bool            // there was text, and it was destroyed
	TextRedacted   bool            // the text is what a later redaction left of it
	Hash           []byte          // SHA-256 over the canonical encoding of the whole record
	Fact           Fact            // decoded and upcast; its text fields are empty if erased
}

// Metadata is the part of the envelope that an item's state depends on.
func (e Event) Metadata() EventMetadata {
	return EventMetadata{
		EventID: e.EventID, Position: e.Position, Version: e.Version,
		RecordedAt: e.RecordedAt, OccurredAt: e.OccurredAt,
	}
}

// Submission is a command on its way to the log.
type Submission struct {
	Command Command
	By      Principal
	Request *Request // nil without an Idempotency-Key
	Origin  Origin
}

// Origin says how a command came about; all of it is recorded.
type Origin struct {
	OccurredAt    time.Time
	RequestID     string
	CorrelationID string
	CausationID   string
	Traceparent   string
	ReasonCode    string
}

// Receipt says what became of a submission.
type Receipt struct {
	Events    []Event        // what was recorded; none if nothing changed
	Knowledge *Knowledge     // the item afterwards; nil if the command was about something else
	Stream    Stream         // what it was about afterwards, if not an item
	Position  int64          // read at this position or later and you see the outcome
	Replayed  bool           // answered as the first time: the request had been made before
	Redacted  map[string]int // what was taken out of what people wrote, by class; nil for nothing
	Outcome   string         // "created", "revised", "recorded" or "unchanged", by what was recorded
}

// The outcomes of a submission.
const (
	Created   = "created"   // the item, or whatever the stream is about, is new
	Changed   = "revised"   // its revision grew
	Recorded  = "recorded"  // something was noted about it, such as a vote
	Unchanged = "unchanged" // nothing new: nothing was recorded
)

// Result is one of many: a receipt or an error.
type Result struct {
	Receipt Receipt
	Err     error
}
