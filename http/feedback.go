package http

import (
	"context"
	"reflect"

	"github.com/annals-kb/annals/domain"
)

// vote is one voice for or against an item.
type vote struct {
	Verdict string `json:"verdict" enum:"helpful,harmful"`
	Query   string `json:"query,omitempty" maxLength:"2000" doc:"What it was used for."`
	TraceID string `json:"trace_id,omitempty" maxLength:"256" doc:"One voice counts per voter and trace; without a trace, per day."`
	Outcome string `json:"outcome,omitempty" maxLength:"2000" doc:"What came of it."`
}

var decodeVote = decoderOf(reflect.TypeFor[vote]())

func (s *Server) giveFeedback(ctx context.Context, c *call, in *itemInput) (*reply, error) {
	given, body, err := read[vote](s, c, decodeVote)
	if err != nil {
		return nil, err
	}
	return replied(s.change(ctx, c, in.ID, body, func(t domain.Target) (domain.Command, error) {
		command := domain.GiveFeedback{
			Target: t, Verdict: domain.Verdict(given.Verdict), Query: given.Query,
			TraceID: given.TraceID, Outcome: given.Outcome, Day: c.now,
		}
		return command, command.Validate()
	}))
}

type retractInput struct {
	ID      string `path:"id" doc:"The item's id."`
	EventID string `query:"event_id" doc:"The vote's event (Annals-Events, when it was given)."`
	TraceID string `query:"trace_id" doc:"Or its trace. With neither, today's vote without a trace."`
}

func (s *Server) retractFeedback(ctx context.Context, c *call, in *retractInput) (*reply, error) {
	return replied(s.change(ctx, c, in.ID, nil, func(t domain.Target) (domain.Command, error) {
		command := domain.RetractFeedback{Target: t, EventID: in.EventID, TraceID: in.TraceID, Day: c.now}
		return command, command.Validate()
	}))
}
