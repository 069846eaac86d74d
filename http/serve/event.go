package serve

import (
	"encoding/hex"
	"reflect"

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
	if fact == nil { // the reader only learns that it happened
		return ""
	}
	if reason := reflect.ValueOf(fact).FieldByName("Reason"); reason.IsValid() {
		return reason.String()
	}
	return ""
}
