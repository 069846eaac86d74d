package projections

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/past"
)

// Reader is the projection with the progress of the log and the past, as an API needs it.
type Reader struct {
	Knowledge *Knowledge
	Past      *past.Projection
	Log       *events.Log
	Followers *follow.Followers
}

// Status is the state of the projections as one tenant sees them: each existing version of the knowledge table, the
// active one first, and the vectors. The active version is written with the log and is never behind.
func (r Reader) Status(ctx context.Context, tenant string) ([]domain.ProjectionStatus, error) {
	head, _, err := r.Log.Reader.Head(ctx, tenant)
	if err != nil {
		return nil, err
	}
	versions, err := r.Knowledge.statuses(ctx, r.Followers, tenant, head)
	if err != nil {
		return nil, err
	}
	if len(versions) > 0 && head > 0 {
		if versions[0].Ahead, err = r.Log.Finder.AheadOfClock(ctx, tenant, head); err != nil {
			return nil, err
		}
	}
	if len(versions) > 0 && r.Knowledge.catalogue.Unreadable.Load() == int64(versions[0].Version) {
		versions[0].Settings["unreadable_rows"] = "found since the server started"
	}
	meaning, err := r.Knowledge.Models.Statuses(ctx, r.Followers, tenant, head)
	if err != nil {
		return nil, err
	}
	past, err := r.Past.Status(ctx, r.Followers, tenant, head)
	return append(append(versions, meaning...), past), err
}

// List reads items as they are, or as they were at a position of the log.
func (r Reader) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	if list.AsOf > 0 {
		return r.Past.List(ctx, list)
	}
	return r.Knowledge.Browser.List(ctx, list)
}

// Search searches what is known, or what was known at a position of the log.
func (r Reader) Search(ctx context.Context, s domain.Search) (domain.Answer, error) {
	if s.AsOf > 0 {
		return r.Past.Search(ctx, s)
	}
	return r.Knowledge.Searcher.Search(ctx, s)
}

// AsOf is what an item was at a position of the log; see [past.Projection.Find].
func (r Reader) AsOf(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error) {
	return r.Past.Find(ctx, tenant, id, position)
}

// statuses are the states of the versions whose tables exist, as one tenant sees them.
func (p *Knowledge) statuses(
	ctx context.Context, followers *follow.Followers, tenant string, head int64,
) ([]domain.ProjectionStatus, error) {
	all, err := p.catalogue.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var list []domain.ProjectionStatus
	for _, v := range all {
		if v.Dropped() {
			continue
		}
		s := domain.ProjectionStatus{
			Name: v.Name, Version: v.Version, State: v.State, Head: head, Settings: v.ComputedWith(), Error: v.Trouble(),
			Inline: slices.Contains(catalogue.WrittenStates, v.State), WhatIf: v.WhatIf(),
			CreatedAt: v.CreatedAt.Time, UpdatedAt: v.UpdatedAt.Time, Report: v.Report,
		}
		switch {
		case s.Inline:
			s.Position = head
			if s.Unindexed, err = p.Indexer.Unindexed(ctx, p.catalogue.VersionOf(v.Entry).Tables, tenant); err != nil {
				return nil, err
			}
		case v.Unfinished():
			if s.Position, _, _, err = followers.Checkpoint(ctx, v.Checkpoint(), tenant); err != nil {
				return nil, err
			}
			s.Head = max(s.Head, s.Position)
			s.LagEvents = s.Head - s.Position
		}
		list = append(list, s)
	}
	return list, nil
}
