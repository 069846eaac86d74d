package http

import (
	"encoding/hex"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func eventOf(e domain.Event) api.Event {
	return api.Event{
		Name: e.Name, Stream: e.Stream, Version: e.Version, Position: e.Position,
		EventID: e.EventID, SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt.UTC(),
		OccurredAt: known(e.OccurredAt), Actor: string(e.Actor), OnBehalfOf: string(e.OnBehalfOf),
		Authentication: e.Authentication, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		CausationID: e.CausationID, Traceparent: e.Traceparent, ReasonCode: e.ReasonCode,
		Reason: reasonOf(e.Fact), Data: e.Data, Text: e.Text,
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
