package http

import (
	"context"
)

// projection is how a projection does.
type projection struct {
	Name       string            `json:"name" example:"knowledge"`
	Version    int               `json:"version"`
	State      string            `json:"state" enum:"building,catching_up,verifying,ready,active,draining,retired,failed"`
	Inline     bool              `json:"inline" doc:"Written together with the event: never behind."`
	Position   int64             `json:"position" doc:"How far it has read the log."`
	Head       int64             `json:"head" doc:"The log's newest position."`
	LagEvents  int64             `json:"lag_events"`
	LagSeconds float64           `json:"lag_seconds" doc:"Age of the oldest event it has not read."`
	Settings   map[string]string `json:"settings,omitempty" doc:"What it is computed with."`
	Error      string            `json:"error,omitempty" doc:"Why it stands still; missing when it does not."`
}

type projectionsOutput struct {
	Body struct {
		Items []projection `json:"items" nullable:"false"`
	} `nameHint:"Projections"`
}

func (s *Server) projections(ctx context.Context, c *call, _ *struct{}) (*projectionsOutput, error) {
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	all, err := s.cfg.Reader.Status(ctx, c.principal.Tenant)
	if err != nil {
		return nil, err
	}
	out := &projectionsOutput{}
	out.Body.Items = make([]projection, len(all))
	for i, p := range all {
		out.Body.Items[i] = projection(p)
	}
	return out, nil
}
