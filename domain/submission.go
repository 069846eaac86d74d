package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

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

	// Of the answer to the request, and not of events:
	Host    string // the program that asks, as it calls itself
	Session string // the conversation in which it asks, as the host names it
}

// Receipt is the result of a submission.
type Receipt struct {
	Events    []Event        // what Command recorded; none if nothing changed
	Knowledge *Knowledge     // the item after the command; nil if the command was not about an item
	Stream    Stream         // the stream after the command, if the command was not about an item
	Position  int64          // a read at this position or later includes the result
	Replayed  bool           // the same request was made before, and this is its answer
	Redacted  map[string]int // redactions in the texts of the command, by class; nil for none
	Outcome   string         // one of the following
}

// The outcomes of a submission.
const (
	Created   = "created"   // the stream is new
	Proposed  = "proposed"  // likewise, but only its author and stewards see it until it is accepted
	Changed   = "revised"   // its revision grew
	Recorded  = "recorded"  // something else was recorded, such as a vote
	Unchanged = "unchanged" // nothing was recorded
)

// Result is the result of one of many submissions: a receipt or an error.
type Result struct {
	Receipt Receipt
	Err     error
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
