package projections

import (
	"context"

	"github.com/annals-kb/annals/domain"
)

// Checkpoints tell how far the background projections have read. *events.Log has them.
type Checkpoints interface {
	Lag(ctx context.Context, projection, tenant string) (domain.ProjectionStatus, error)
}

// Follow tells the projection whose checkpoints its status shows.
func (p *Knowledge) Follow(c Checkpoints) { p.checkpoints = c }

// Status is how the projections do, as one tenant sees them.
func (p *Knowledge) Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error) {
	meaning, err := p.checkpoints.Lag(ctx, p.meaning.Name(), tenant)
	if err != nil {
		return nil, p.failed(ctx, "read checkpoints", err)
	}
	meaning.Name, meaning.Version, meaning.State = meaningName, p.meaning.tables.version, stateActive
	meaning.Settings = map[string]string{"space": p.meaning.embedder.Name()}
	knowledge := domain.ProjectionStatus{
		Name: knowledgeName, Version: p.tables.version, State: stateActive, Inline: true,
		Position: meaning.Head, Head: meaning.Head, Settings: p.settings,
	}
	return []domain.ProjectionStatus{knowledge, meaning}, nil
}
