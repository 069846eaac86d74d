package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"
)

// Event is a fact as the log keeps it: with its place, its time and its actor.
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
	TraceID       string // of the traceparent, of a vote, or of what was remembered

	From, To                 time.Time // recorded at or after From, before To
	OccurredFrom, OccurredTo time.Time // happened in the world at or after, before; only what says when
}

// AboutItems tells whether it takes the items themselves to know which events are selected.
func (q EventQuery) AboutItems() bool { return q.Scope != "" || q.Owner != "" || q.Only != nil }

// Request recognises a request that was made before: unique per tenant and subject.
type Request struct {
	Key         string // the caller's Idempotency-Key; bulk lines add #line
	Fingerprint Fingerprint
}

// Fingerprint tells whether two requests ask for the same, as SHA-256 digests.
type Fingerprint struct {
	Whole   [32]byte // of everything that the request says
	Outline [32]byte // of what stays known when the texts that it brought are destroyed
}

// FingerprintOf is of a request that says what is in its outline, and more.
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
