package serve

import (
	"encoding/hex"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

var EventColumns = ColumnsOf[api.Event](`
	position recorded_at occurred_at name stream version actor on_behalf_of authentication reason reason_code data text
	text_erased? text_redacted? request_id correlation_id causation_id traceparent event_id hash
`)

// EventOf is an event as the API shows it.
func EventOf(e domain.Event) api.Event {
	return api.Event{
		Name: e.Name, Stream: e.Stream, Version: e.Version, Position: e.Position,
		EventID: e.EventID, SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt.UTC(),
		OccurredAt: Time(e.OccurredAt), Actor: string(e.Actor), OnBehalfOf: string(e.OnBehalfOf),
		Authentication: e.Authentication, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		CausationID: e.CausationID, Traceparent: e.Traceparent, ReasonCode: e.ReasonCode,
		Reason: reasonOf(e.Fact), Data: e.Data, Text: e.Text,
		TextErased: e.TextErased, TextRedacted: e.TextRedacted, Hash: hex.EncodeToString(e.Hash),
	}
}

// reasonOf is the reason that a fact states; empty if it has none.
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
	case domain.Merged:
		return f.Reason
	case domain.Unmerged:
		return f.Reason
	case domain.ReviewProposed:
		return f.Reason
	case domain.ReviewClosed:
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
