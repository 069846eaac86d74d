package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
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
		RecordedAt: e.RecordedAt, OccurredAt: e.OccurredAt, Actor: e.Actor, OnBehalfOf: e.OnBehalfOf,
		Authentication: e.Authentication,
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
	// Then are commands that are decided directly after Command, and recorded in the same transaction. The first event
	// of Command is their cause. If one of them is refused, nothing is recorded.
	Then    []Command
	By      Principal
	Request *Request // nil without an Idempotency-Key
	Origin  Origin
	Whole   bool // refuse it, with [ErrRedacted], if scrubbing would remove something from the texts of Command
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
	Events    []Event        // what Command recorded; none if nothing changed
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

// Select are those of some events after q.After that the query selects. items are those that they are about, as they
// are now. It ignores EventID, CausationID, From, To and Limit.
func (q EventQuery) Select(from []Event, items map[string]*Knowledge) (selected []Event) {
	var readers []Entity
	if q.Only != nil {
		readers = q.Only.Entities()
	}
	for _, e := range from {
		id, _ := ItemOf(e.Stream)
		if e.Position > q.After && q.selectsFact(e) && (!q.AboutItems() || q.selectsItem(items[id], readers)) {
			selected = append(selected, e)
		}
	}
	return selected
}

func (q EventQuery) selectsFact(e Event) bool {
	const none = ""
	switch {
	case len(q.Names) > 0 && !slices.Contains(q.Names, e.Name),
		q.Stream != none && q.Stream != e.Stream,
		q.Actor != none && q.Actor != e.Actor && q.Actor != e.OnBehalfOf,
		q.OnBehalfOf != none && q.OnBehalfOf != e.OnBehalfOf,
		q.RequestID != none && q.RequestID != e.RequestID,
		q.CorrelationID != none && q.CorrelationID != e.CorrelationID,
		!q.OccurredFrom.IsZero() && e.OccurredAt.Before(q.OccurredFrom),
		!q.OccurredTo.IsZero() && (e.OccurredAt.IsZero() || !e.OccurredAt.Before(q.OccurredTo)):
		return false
	}
	traced := strings.HasPrefix(e.Traceparent, "00-"+q.TraceID) || // or the vote or the source is
		strings.Contains(string(e.Data), `"trace_id":"`+q.TraceID+`"`)
	return (q.TraceID == none || traced) && (len(q.Words) == 0 || e.Mentions(q.Words))
}

func (q EventQuery) selectsItem(k *Knowledge, readers []Entity) bool {
	if k == nil || q.Owner != "" && q.Owner != k.Owner || q.Scope != "" && !slices.Contains(k.Scopes, q.Scope) {
		return false
	}
	gone := k.Status == IsDeleted || k.Status == IsErased
	return q.Only == nil || slices.Contains(readers, k.Owner) ||
		!gone && slices.ContainsFunc(k.Scopes, func(s Scope) bool {
			return s == Public || slices.Contains(readers, s.Entity())
		})
}

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

// Stream is the state of one stream that is not about knowledge. A stream without facts has version 0 and no state.
type Stream struct {
	Name     string // such as "session:USER/ID"
	Version  int64  // of its newest event
	Position int64  // of its newest event
	State    State
}

// State is folded from the facts of one stream. It is an immutable value: Evolve returns a new one. It contains no
// texts, so erasing a text never changes it.
//
// Every append to a stream reads and writes its state, so a state must not grow with its stream.
type State interface {
	// Evolve is the state after one more fact. Facts come in order of their versions, each once. It returns an error
	// if the fact cannot follow.
	Evolve(fact Fact, at EventMetadata) (State, error)
}

// Evolve folds one fact into the stream. Facts must come in order of their versions, each once. An
// error leaves the stream as it was.
func (s *Stream) Evolve(fact Fact, at EventMetadata) error {
	if at.Version != s.Version+1 {
		return fmt.Errorf("fold %s: version %d follows %d", fact.Name(), at.Version, s.Version)
	}
	state := s.State
	switch fact.(type) {
	case Redacted, TextsErased: // a state has no texts
	default:
		var err error
		if state, err = s.State.Evolve(fact, at); err != nil {
			return fmt.Errorf("fold %s as version %d: %w", fact.Name(), at.Version, err)
		}
	}
	s.Version, s.Position, s.State = at.Version, at.Position, state
	return nil
}

// Exists tells whether anything was ever recorded in the stream.
func (s Stream) Exists() bool { return s.Version > 0 }

// StateOf is the state of a stream; the zero value if there is no such stream.
func StateOf[S State](dc DecisionContext, stream string) S {
	state, _ := dc.Stream(stream).State.(S)
	return state
}

// Digest is a SHA-256.
type Digest = [32]byte

// Checkpoint is the size and root hash of a tenant's log, signed. A reader that keeps one can later verify that the
// log was only appended to.
type Checkpoint struct {
	Origin string // which log: the signing key's name, "/", the tenant
	Size   int64  // events, so the position of the last one
	Root   Digest // of the Merkle tree over them
	Note   string // the signed text that says all of this
}

// Entry is the part of an event that proofs use.
type Entry struct {
	EventID  string
	Stream   string
	Position int64
	Hash     []byte // of the record; the leaf of the tree
}

// NoSuchEvent refuses to prove an event that does not exist, or that the caller may not see. It matches
// [ErrNotFound].
func NoSuchEvent() error {
	return Refuse(ErrNotFound, "there is no such event").
		WithFix("name an event by its id, as annals history ID --ids shows it")
}

// Inclusion proves that an event is in the log that a checkpoint describes.
type Inclusion struct {
	Entry
	Record     []byte   // a line of an export as JSON, without its text; Hash is its hash
	Leaf       Digest   // of the tree, if it is not the leaf of Hash: then the event was rewritten; else zero
	Path       []Digest // from the leaf's neighbour upwards
	Checkpoint Checkpoint
}

// Consistency proves that the log with To events continues the log with From events.
type Consistency struct {
	From, To         int64
	FromRoot, ToRoot Digest
	Path             []Digest
}

// Export asks for a range of a tenant's log, record by record.
type Export struct {
	Tenant  string
	After   int64 // positions greater than this
	Through int64 // up to this one; 0 for the end of the log
	Texts   bool  // with what people wrote
}

// Protection is a mechanism that keeps the log from being changed.
type Protection struct {
	Name   string
	Stands bool
	Detail string
	Fix    string // what to do if it is not enabled
}
