package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// Event is a fact as the log keeps it.
type Event struct {
	Name           string          `json:"name" example:"knowledge.remembered"`
	Stream         string          `json:"stream" example:"knowledge:profile_001"`
	Version        int64           `json:"version" doc:"Within the stream: 1, 2, 3 …"`
	Position       int64           `json:"position" doc:"In the tenant's log: 1, 2, 3 … without a gap."`
	EventID        string          `json:"event_id"`
	SchemaVersion  int             `json:"schema_version"`
	RecordedAt     time.Time       `json:"recorded_at"`
	OccurredAt     *time.Time      `json:"occurred_at,omitempty" doc:"When it happened in the world, if known."`
	Actor          string          `json:"actor" doc:"Who did it."`
	OnBehalfOf     string          `json:"on_behalf_of,omitempty" doc:"For whom."`
	Authentication string          `json:"authentication" doc:"How we know."`
	RequestID      string          `json:"request_id,omitempty"`
	CorrelationID  string          `json:"correlation_id,omitempty"`
	CausationID    string          `json:"causation_id,omitempty"`
	Traceparent    string          `json:"traceparent,omitempty"`
	ReasonCode     string          `json:"reason_code,omitempty"`
	Reason         string          `json:"reason,omitempty" doc:"Why, in the words of the actor."`
	Data           json.RawMessage `json:"data,omitempty" doc:"The plain fields, as recorded."`
	Text           json.RawMessage `json:"text,omitempty" doc:"What people wrote; missing if there was nothing, or if it was erased."`
	TextErased     bool            `json:"text_erased,omitempty" doc:"There was text, and it was destroyed."`
	TextRedacted   bool            `json:"text_redacted,omitempty" doc:"The text is what a later redaction left of it."`
	Hash           string          `json:"hash,omitempty" doc:"SHA-256 over the canonical encoding of the whole record, in hexadecimal."`

	Changes          []Change `json:"changes,omitempty" doc:"In an item's history: what it changed."`
	Revision         int64    `json:"revision,omitempty" doc:"In an item's history: the item's, after it."`
	Confidence       *float64 `json:"confidence,omitempty" doc:"In an item's history: the item's, after it."`
	ConfidencePolicy string   `json:"confidence_policy,omitempty" example:"half-discounted/1" doc:"In an item's history: the policy that computed the confidence, that of today. When the event was recorded, another may have been in force."`
	CausedBy         []Cause  `json:"caused_by,omitempty" doc:"In an item's history, and of one event: what caused it, what caused that, and so on back to where it began."`
}

// TraceAt is where the trace of an event is shown, by an address with {trace_id}; empty without either.
func (e Event) TraceAt(address string) string {
	if parts := strings.Split(e.Traceparent, "-"); len(parts) == 4 {
		return strings.ReplaceAll(address, "{trace_id}", url.PathEscape(parts[1]))
	}
	return ""
}

// Change is what an event changed in one field.
type Change struct {
	Field  string        `json:"field" example:"content"`
	Before any           `json:"before,omitempty" doc:"Missing if there was nothing."`
	After  any           `json:"after,omitempty" doc:"Missing if nothing is left."`
	Policy string        `json:"policy,omitempty" doc:"Of a confidence: the policy that computed it."`
	Diff   []FieldChange `json:"diff,omitempty" doc:"With diff=true, for what people wrote: before and after, word by word, Chinese by character."`
}

// Comparison is an item at two moments, and what changed in between.
type Comparison struct {
	From    ItemState `json:"from"`
	To      ItemState `json:"to"`
	Changes []Change  `json:"changes" nullable:"false" doc:"As in a history with diff=true."`
}

// ItemState is the state of an item at a moment.
type ItemState struct {
	Position     int64   `json:"position" doc:"Of the log: the moment."`
	Revision     int64   `json:"revision" doc:"0 before the item was remembered."`
	Confidence   float64 `json:"confidence"`
	TextErased   bool    `json:"text_erased,omitempty" doc:"There was text by then that was destroyed."`
	TextRedacted bool    `json:"text_redacted,omitempty" doc:"There was text by then of which you read what a later redaction left."`
}

// Moment is what a time or a position leads to.
type Moment struct {
	Position     int64      `json:"position" doc:"Of the last event that was recorded by then; 0 while the log is empty."`
	EventID      string     `json:"event_id,omitempty" doc:"Of that event, if you may read it."`
	RecordedAt   *time.Time `json:"recorded_at,omitempty" doc:"When it was recorded."`
	HeadPosition int64      `json:"head_position" doc:"Of the newest event."`
	HeadAt       *time.Time `json:"head_at,omitempty" doc:"When that was recorded."`
}

// EventHistogram counts events by the time when they were recorded.
type EventHistogram struct {
	Buckets   []EventBucket `json:"buckets" nullable:"false" doc:"Of equal length, without gaps, oldest first. None if the log is empty and from or to is missing."`
	Estimated bool          `json:"estimated,omitempty" doc:"The counts are estimates, from a sample of the log."`
}

// EventBucket counts the events of a part of the time.
type EventBucket struct {
	From          time.Time `json:"from" doc:"Recorded at or after this time,"`
	To            time.Time `json:"to" doc:"and before this one."`
	Count         int64     `json:"count"`
	FirstPosition int64     `json:"first_position,omitempty" doc:"Of the first event that was counted."`
}

// Cause is one step from an event back to its root cause.
type Cause struct {
	ID         string     `json:"id" example:"file:knowledge.ndjson:7" doc:"The id of an event, or a word of the caller."`
	Name       string     `json:"name,omitempty" doc:"The event's, as all that follows; missing if it is none of this log."`
	Stream     string     `json:"stream,omitempty"`
	Position   int64      `json:"position,omitempty"`
	RecordedAt *time.Time `json:"recorded_at,omitempty"`
	Actor      string     `json:"actor,omitempty"`
	OnBehalfOf string     `json:"on_behalf_of,omitempty"`
}

// FieldChange is a part of a text that was kept, removed or added.
type FieldChange struct {
	Op   string `json:"op" enum:"same,removed,added"`
	Text string `json:"text"`
}
