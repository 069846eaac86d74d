package projections

import (
	"cmp"
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Progress tells how far background projections have read; *events.Log keeps it.
type Progress interface {
	Head(ctx context.Context, tenant string) (position int64, eventID string, err error)
	AheadOfClock(ctx context.Context, tenant string, position int64) (time.Duration, error)
	Checkpoint(ctx context.Context, projection, tenant string) (position int64, eventID string, updatedAt time.Time, err error)
	SubscriptionStatus(ctx context.Context, projection, tenant string) (events.SubscriptionStatus, error)
	AwaitHead(ctx context.Context, tenant string, position int64) (head int64, err error)
	Await(ctx context.Context, projection, tenant string, position int64) error
}

// Reader is the projection together with the progress of the log and with its past, as an API wants it.
type Reader struct {
	*Knowledge
	Past     *Past
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
	if len(versions) > 0 && head > 0 {
		if versions[0].Ahead, err = r.Progress.AheadOfClock(ctx, tenant, head); err != nil {
			return nil, err
		}
	}
	if len(versions) > 0 && r.unreadable.Load() == int64(versions[0].Version) {
		versions[0].Settings["unreadable_rows"] = "found since the server started"
	}
	meaning, err := r.models.statuses(ctx, r.Progress, tenant, head)
	if err != nil {
		return nil, err
	}
	past, err := r.Past.status(ctx, r.Progress, tenant, head)
	return append(append(versions, meaning...), past), err
}

// statuses are how the spaces do whose vectors are there, the one that is read first.
func (s *embeddingModels) statuses(ctx context.Context, progress Progress, tenant string, head int64) ([]domain.ProjectionStatus, error) {
	p := s.knowledge
	var all []listed
	err := p.db.NewSelect().Model(&all).Where("name = ?", meaningName).
		OrderExpr("CASE state WHEN 'active' THEN 0 ELSE 1 END, version DESC").Scan(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read the catalogue", err)
	}
	var list []domain.ProjectionStatus
	for _, v := range all {
		if v.dropped() {
			continue
		}
		status, err := s.status(ctx, v, progress, tenant, head)
		if err != nil {
			return nil, err
		}
		list = append(list, status)
	}
	return list, nil
}

func (s *embeddingModels) status(ctx context.Context, v listed, progress Progress, tenant string, head int64) (domain.ProjectionStatus, error) {
	status := domain.ProjectionStatus{
		Name: v.Name, Version: v.Version, State: v.State, Head: head, Settings: v.settings(),
		CreatedAt: v.CreatedAt.Time, UpdatedAt: v.UpdatedAt.Time,
	}
	name := meaningTables{version: v.Version}.checkpoint()
	f, err := progress.SubscriptionStatus(ctx, name, tenant)
	if err != nil {
		return status, err
	}
	status = f.Describe(status)
	if read := s.read.Load(); read.tables.version == v.Version {
		failure, _ := read.failure.Load().(string)
		status.Error = cmp.Or(status.Error, failure)
		if !read.reachable() {
			status.Error = "words answer alone: no setting of this server says how to reach the model of these vectors"
		}
	}
	return status, nil
}

// List reads items as they are, or as they were at a position of the log.
func (r Reader) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	if list.AsOf > 0 {
		return r.Past.List(ctx, list)
	}
	return r.Knowledge.List(ctx, list)
}

// Search searches what is known, or what was known at a position of the log.
func (r Reader) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	if s.AsOf > 0 {
		return r.Past.Search(ctx, s)
	}
	return r.Knowledge.Search(ctx, s)
}

// AsOf is what an item was at a position of the log; see [Past.Find].
func (r Reader) AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error) {
	return r.Past.Find(ctx, tenant, id, position)
}
