package http

import (
	"encoding/hex"
	"time"

	"github.com/annals-kb/annals/domain"
)

// event is a fact as the log keeps it.
type event struct {
	Name           string     `json:"name" example:"knowledge.remembered"`
	Stream         string     `json:"stream" example:"knowledge:profile_001"`
	Version        int64      `json:"version" doc:"Within the stream: 1, 2, 3 …"`
	Position       int64      `json:"position" doc:"In the tenant's log: 1, 2, 3 … without a gap."`
	EventID        string     `json:"event_id"`
	SchemaVersion  int        `json:"schema_version"`
	RecordedAt     time.Time  `json:"recorded_at"`
	OccurredAt     *time.Time `json:"occurred_at,omitempty" doc:"When it happened in the world, if somebody said."`
	Actor          string     `json:"actor" doc:"Who did it."`
	OnBehalfOf     string     `json:"on_behalf_of,omitempty" doc:"For whom."`
	Authentication string     `json:"authentication" doc:"How we know."`
	RequestID      string     `json:"request_id,omitempty"`
	CorrelationID  string     `json:"correlation_id,omitempty"`
	CausationID    string     `json:"causation_id,omitempty"`
	Traceparent    string     `json:"traceparent,omitempty"`
	ReasonCode     string     `json:"reason_code,omitempty"`
	Reason         string     `json:"reason,omitempty" doc:"Why, as somebody wrote it."`
	Data           object     `json:"data,omitempty" doc:"The plain fields, as recorded."`
	Text           object     `json:"text,omitempty" doc:"What people wrote; missing if there was nothing, or if it was erased."`
	TextErased     bool       `json:"text_erased,omitempty" doc:"There was text, and it was destroyed."`
	TextRedacted   bool       `json:"text_redacted,omitempty" doc:"The text is what a later redaction left of it."`
	Hash           string     `json:"hash,omitempty" doc:"SHA-256 over the canonical encoding of the whole record, in hexadecimal."`

	Changes          []change `json:"changes,omitempty" doc:"In an item's history: what it changed."`
	Revision         int64    `json:"revision,omitempty" doc:"In an item's history: the item's, after it."`
	Confidence       *float64 `json:"confidence,omitempty" doc:"In an item's history: the item's, after it."`
	ConfidencePolicy string   `json:"confidence_policy,omitempty" example:"half-discounted/1" doc:"In an item's history: the policy that computed the confidence, that of today. When the event was recorded, another may have been in force."`
	CausedBy         []cause  `json:"caused_by,omitempty" doc:"In an item's history: what caused it, what caused that, and so on back to where it began."`
}

// change is what an event changed in one field.
type change struct {
	Field  string        `json:"field" example:"content"`
	Before any           `json:"before,omitempty" doc:"Missing if there was nothing."`
	After  any           `json:"after,omitempty" doc:"Missing if nothing is left."`
	Policy string        `json:"policy,omitempty" doc:"Of a confidence: the policy that computed it."`
	Diff   []fieldChange `json:"diff,omitempty" doc:"With diff=true, for what people wrote: before and after, word by word, Chinese by character."`
}

func eventOf(e domain.Event) event {
	return event{
		Name: e.Name, Stream: e.Stream, Version: e.Version, Position: e.Position,
		EventID: e.EventID, SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt.UTC(),
		OccurredAt: known(e.OccurredAt), Actor: string(e.Actor), OnBehalfOf: string(e.OnBehalfOf),
		Authentication: e.Authentication, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		CausationID: e.CausationID, Traceparent: e.Traceparent, ReasonCode: e.ReasonCode,
		Reason: reasonOf(e.Fact), Data: object(e.Data), Text: object(e.Text),
		TextErased: e.TextErased, TextRedacted: e.TextRedacted, Hash: hex.EncodeToString(e.Hash),
	}
}

// reasonOf is why, for facts that have a why.
func reasonOf(fact domain.Fact) string {
	switch f := fact.(type) {
	case domain.Revised:
		return f.Reason
	case domain.Rescoped:
		return f.Reason
	case domain.Transferred:
		return f.Reason
	case domain.Moved:
		return f.Reason
	case domain.ReportedStale:
		return f.Reason
	case domain.Confirmed:
		return f.Reason
	case domain.Superseded:
		return f.Reason
	case domain.Deleted:
		return f.Reason
	case domain.Restored:
		return f.Reason
	case domain.Linked:
		return f.Reason
	case domain.KeyRevoked:
		return f.Reason
	case domain.ProjectionFailed:
		return f.Reason
	case domain.ProjectionRetired:
		return f.Reason
	}
	return ""
}
