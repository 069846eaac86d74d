package projections

import (
	"context"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Progress tells how far background projections have read; *events.Log keeps it.
type Progress interface {
	Head(ctx context.Context, tenant string) (position int64, eventID string, err error)
	Checkpoint(ctx context.Context, projection, tenant string) (position int64, eventID string, updatedAt time.Time, err error)
	Trouble(projection, tenant string) error
}

// Reader is the projection together with the progress of the log, as an API wants it.
type Reader struct {
	*Knowledge
	Progress Progress
}

// Status is how the projections do, as one tenant sees them: every version of the knowledge table that
// is there, the active one first, and the vectors. What is active is written with the log and never
// behind.
func (r Reader) Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error) {
	head, _, err := r.Progress.Head(ctx, tenant)
	if err != nil {
		return nil, err
	}
	versions, err := r.statuses(ctx, r.Progress, tenant, head)
	if err != nil {
		return nil, err
	}
	meaning, err := r.meaning.status(ctx, r.Progress, tenant, head)
	return append(versions, meaning), err
}

func (m *Meaning) status(ctx context.Context, progress Progress, tenant string, head int64) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{
		Name: meaningName, Version: m.tables.version, State: stateActive, Head: head,
		Settings: map[string]string{"space": m.embedder.Name()},
	}
	var err error
	if s.Position, _, _, err = progress.Checkpoint(ctx, m.Name(), tenant); err != nil {
		return s, err
	}
	s.Head = max(s.Head, s.Position)
	s.LagEvents = s.Head - s.Position
	if trouble := progress.Trouble(m.Name(), tenant); trouble != nil {
		s.Error = trouble.Error()
	}
	if s.LagEvents == 0 {
		return s, nil
	}
	var next database.Time
	err = m.db.NewSelect().TableExpr("events").Column("recorded_at").
		Where("tenant = ?", tenant).Where("position = ?", s.Position+1).Scan(ctx, &next)
	if err != nil {
		return s, m.knowledge.failed(ctx, "read lag", err)
	}
	s.LagSeconds = max(0, m.knowledge.now().Sub(next.Time).Seconds())
	return s, nil
}
