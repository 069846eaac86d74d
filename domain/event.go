package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"
)

// Event is a fact as the log keeps it, with its position, time and actor.
type Event struct {
	Tenant         string
	Position       int64 // in the tenant's log: 1, 2, 3 … without a gap
	EventID        string
	Stream         string // such as "knowledge:ID" or "session:USER/ID"
	Version        int64  // within the stream: 1, 2, 3 …
	Name           string
	SchemaVersion  int       // as recorded, before any upcasting
	RecordedAt     time.Time // UTC, microseconds; never decreases along a log
	OccurredAt     time.Time // when it happened in the world; zero if unknown
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
	TextRedacted   bool            // a later redaction replaced the text
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

// Mentions tells whether the strings in the data and the text of the event contain all words, which are in lower case.
func (e Event) Mentions(words []string) bool {
	var said strings.Builder
	note := func(s RecordedString) string {
		said.WriteString(strings.ToLower(s.Value) + "\n")
		return s.Value
	}
	RewriteRecordedText(e.Data, note)
	RewriteRecordedText(e.Text, note)
	for _, word := range words {
		if !strings.Contains(said.String(), word) {
			return false
		}
	}
	return true
}

// Submission is a command on its way to the log.
type Submission struct {
	Command Command
	By      Principal
	Request *Request // nil without an Idempotency-Key
	Origin  Origin
}

// Origin says where a command came from. All of it is recorded.
type Origin struct {
	OccurredAt    time.Time
	RequestID     string
	CorrelationID string
	CausationID   string
	Traceparent   string
	ReasonCode    string
}

// Receipt is the result of a submission.
type Receipt struct {
	Events    []Event        // what was recorded; none if nothing changed
	Knowledge *Knowledge     // the item after the command; nil if the command was not about an item
	Stream    Stream         // the stream after the command, if the command was not about an item
	Position  int64          // a read at this position or later includes the result
	Replayed  bool           // the same request was made before, and this is its answer
	Redacted  map[string]int // redactions in the texts of the command, by class; nil for none
	Outcome   string         // "created", "revised", "recorded" or "unchanged"
}

// The outcomes of a submission.
const (
	Created   = "created"   // the stream is new
	Changed   = "revised"   // its revision grew
	Recorded  = "recorded"  // something else was recorded, such as a vote
	Unchanged = "unchanged" // nothing was recorded
)

// Result is the result of one of many submissions: a receipt or an error.
type Result struct {
	Receipt Receipt
	Err     error
}

// EventQuery selects events of one tenant's log. Empty fields select everything; several names are
// alternatives.
type EventQuery struct {
	Tenant     string
	After      int64      // positions greater than this, or with Descending less than this
	Limit      int        // at most 500; 0 for 100
	Descending bool       // newest first; After 0 then means from the head
	Only       *Principal // only events of items that it may see now; nil for all events

	Stream        string
	Actor         Entity // as actor or on whose behalf
	OnBehalfOf    Entity
	Names         []string
	Scope         Scope  // of the item, as it is now
	Owner         Entity // of the item, as it is now
	RequestID     string
	CorrelationID string
	CausationID   string
	EventID       string
	TraceID       string   // of the traceparent, of a vote, or of what was remembered
	Words         []string // in lower case; an event must mention all of them

	From, To                 time.Time // recorded at or after From, before To
	OccurredFrom, OccurredTo time.Time // happened at or after, before; only events with such a time
}

// AboutItems tells whether selecting the events requires the current items.
func (q EventQuery) AboutItems() bool { return q.Scope != "" || q.Owner != "" || q.Only != nil }

// EventHistogram counts events by the time when they were recorded.
type EventHistogram struct {
	Buckets   []EventBucket // without gaps, oldest first
	Estimated bool          // the counts are estimates, from a sample of the events
}

// EventBucket counts the events that were recorded at or after From, and before To.
type EventBucket struct {
	From, To time.Time
	Count    int64
	First    int64 // position of the first event that was counted; 0 if there is none
}

// Request identifies a repeated request. Its key is unique per tenant and subject.
type Request struct {
	Key         string // the caller's Idempotency-Key; bulk lines add #line
	Fingerprint Fingerprint
}

// Fingerprint compares two requests by SHA-256 digests.
type Fingerprint struct {
	Whole   [32]byte // of the whole request
	Outline [32]byte // of the part that remains when the texts of the request are erased
}

// FingerprintOf is the fingerprint of an outline and the rest of a request.
func FingerprintOf(outline []string, more ...string) Fingerprint {
	var f Fingerprint
	hash := sha256.New()
	write := func(parts []string) {
		for _, part := range parts {
			var length [8]byte
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			hash.Write(length[:])
			hash.Write([]byte(part))
		}
	}
	write(outline)
	hash.Sum(f.Outline[:0])
	write(more)
	hash.Sum(f.Whole[:0])
	return f
}
