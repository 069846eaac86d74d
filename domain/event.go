package domain

import (
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
		RecordedAt: e.RecordedAt, OccurredAt: e.OccurredAt, Actor: e.Actor, OnBehalfOf: e.OnBehalfOf,
		Authentication: e.Authentication,
	}
}

// Mentions tells whether the strings in the data and the text of the event contain all words, which are in lower case.
func (e Event) Mentions(words []string) bool {
	var text strings.Builder
	note := func(s RecordedString) string {
		text.WriteString(strings.ToLower(s.Value) + "\n")
		return s.Value
	}
	RewriteRecordedText(e.Data, note)
	RewriteRecordedText(e.Text, note)
	for _, word := range words {
		if !strings.Contains(text.String(), word) {
			return false
		}
	}
	return true
}
