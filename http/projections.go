package http

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
)

// projection is how a version of a projection does.
type projection struct {
	Name        string            `json:"name" example:"knowledge"`
	Version     int               `json:"version"`
	State       string            `json:"state" enum:"building,catching_up,verifying,ready,active,draining,retired,failed" doc:"active is read; draining was active before, and is written so that going back loses nothing."`
	Inline      bool              `json:"inline" doc:"Written together with the event: never behind."`
	WhatIf      bool              `json:"what_if,omitempty" doc:"Built only to be compared, and thrown away."`
	Position    int64             `json:"position" doc:"How far it has read the log."`
	Head        int64             `json:"head" doc:"The log's newest position."`
	LagEvents   int64             `json:"lag_events"`
	LagSeconds  float64           `json:"lag_seconds" doc:"Age of the oldest event it has not read."`
	Ahead       float64           `json:"ahead_seconds,omitempty" doc:"The log is ahead of the server's clock: its newest event was recorded so long after now. Set the clock; new events get no earlier time."`
	Settings    map[string]string `json:"settings,omitempty" doc:"What it is computed with."`
	Error       string            `json:"error,omitempty" doc:"Why it stands still, failed, or comes to nothing; missing when it does not."`
	Halted      bool              `json:"halted" doc:"It does not go on by itself: see error."`
	Holder      string            `json:"holder,omitempty" doc:"The process that works on it now; missing when there is nothing to do, or nobody to do it."`
	ReadAt      *time.Time        `json:"read_at,omitempty" doc:"When it last read something; missing for one that is written with the log."`
	Quarantined int64             `json:"quarantined" doc:"Streams that it passes over, because it could not take in one of their events."`
	Unindexed   int64             `json:"unindexed" doc:"The words of so many items, counted once for each of their scopes, wait to be indexed by the background: a search over everything reads them all. Counted up to 100,000."`
	CreatedAt   *time.Time        `json:"created_at,omitempty"`
	UpdatedAt   *time.Time        `json:"updated_at,omitempty" doc:"When it came into its state."`
	Report      *rebuildReport    `json:"report,omitempty" doc:"What its verification found; for root."`
}

// projectionsOutput lists projections, each with every version that is there, the active one first.
type projectionsOutput struct {
	Body struct {
		Items []projection `json:"items" nullable:"false"`
	} `nameHint:"Projections"`
}

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
	out.Body.Items = []projection{}
	for _, p := range all {
		if !wanted(p) {
			continue
		}
		shown := projection{
			Name: p.Name, Version: p.Version, State: p.State, Inline: p.Inline, WhatIf: p.WhatIf, Position: p.Position, Head: p.Head,
			LagEvents: p.LagEvents, LagSeconds: p.LagSeconds, Ahead: p.Ahead.Seconds(), Settings: p.Settings, Error: p.Error,
			Halted: p.Halted, Holder: p.Holder, ReadAt: known(p.ReadAt), Quarantined: p.Quarantined, Unindexed: p.Unindexed,
			CreatedAt: known(p.CreatedAt), UpdatedAt: known(p.UpdatedAt),
		}
		if c.principal.Operates() { // it names items of whomever
			shown.Report = reportOf(p.Report)
		}
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}
