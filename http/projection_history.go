package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

type projectionHistoryInput struct {
	Name   string  `path:"name" example:"knowledge" doc:"The projection's name."`
	Limit  integer `query:"limit" doc:"1 to 500, the newest; 100 if left out."`
	Cursor string  `query:"cursor" doc:"next_cursor of the page before, for what is older."`
}

// projectionHistory lists what happened to a projection, newest first. It is in the
// server's own log, which root reads.
func (s *Server) projectionHistory(ctx context.Context, c *call, in *projectionHistoryInput) (*paged[api.Event], error) {
	const most = 500
	query := domain.EventQuery{
		Tenant: domain.SystemTenant, Stream: domain.ProjectionStream(in.Name), Descending: true,
		Limit: int(in.Limit.read(&c.found, "limit", 1, most)),
	}
	if _, err := s.administer(c); err != nil {
		return nil, err
	}
	ctx = s.cfg.Confine(ctx, domain.SystemTenant)
	place, err := placeOf(in.Cursor, in.Name)
	if err != nil {
		return nil, err
	}
	query.After = place
	all, next, err := s.cfg.Historian.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		if _, err := s.cfg.Rebuilder.Plan(ctx, in.Name, domain.RebuildOrder{}); err != nil {
			return nil, err // there is no projection of this name, or none that has a history
		}
	}
	out := api.Page[api.Event]{Items: make([]api.Event, len(all)), NextCursor: cursor(next, in.Name)}
	for i, e := range all {
		out.Items[i] = eventOf(e)
	}
	return &paged[api.Event]{Body: out}, nil
}
