package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func (s *Server) giveFeedback(ctx context.Context, c *call, in *itemInput) (*reply, error) {
	given, body, err := read[api.Vote](s, c)
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
