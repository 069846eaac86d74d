package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

type projectionsOutput struct{ Body api.Projections }

func (s *Server) projections(ctx context.Context, c *call, _ *struct{}) (*projectionsOutput, error) {
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	return s.versions(ctx, c, func(domain.ProjectionStatus) bool { return true })
}

// versions lists the wanted ones.
func (s *Server) versions(ctx context.Context, c *call, wanted func(domain.ProjectionStatus) bool) (*projectionsOutput, error) {
	all, err := s.cfg.Reader.Status(ctx, c.principal.Tenant)
	if err != nil {
		return nil, err
	}
	if s.cfg.Prover != nil {
		proof, err := s.cfg.Prover.Status(ctx, c.principal.Tenant)
		if err != nil {
			return nil, err
		}
		all = append(all, proof)
	}
	out := &projectionsOutput{}
	out.Body.Items = []api.Projection{}
	for _, p := range all {
		if !wanted(p) {
			continue
		}
		shown := api.Projection{
			Name: p.Name, Version: p.Version, State: p.State, Inline: p.Inline, WhatIf: p.WhatIf, Position: p.Position, Head: p.Head,
			LagEvents: p.LagEvents, LagSeconds: p.LagSeconds, Ahead: p.Ahead.Seconds(), Settings: p.Settings, Error: p.Error,
			Halted: p.Halted, Holder: p.Holder, ReadAt: known(p.ReadAt), Quarantined: p.Quarantined, Unindexed: p.Unindexed,
			CreatedAt: known(p.CreatedAt), UpdatedAt: known(p.UpdatedAt),
		}
		if c.principal.IsOperator() { // it names items of whomever
			shown.Report = reportOf(p.Report)
		}
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}
