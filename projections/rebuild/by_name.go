package rebuild

import (
	"context"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Rebuilds gives access to the rebuilds of a database's projections by name, as an API needs it. A rebuild covers
// every tenant.
type Rebuilds struct {
	*Rebuilder
}

// known returns an error for a projection that cannot be rebuilt.
func (r Rebuilds) known(name string) error {
	switch name {
	case catalogue.KnowledgeName:
		return nil
	case catalogue.PastName:
		return domain.Refuse(domain.ErrConflict, "what was known in the past is read from the log, and follows it by itself").
			WithFix("annals replay past lets it read the log again from its beginning")
	case catalogue.MeaningName:
		return domain.Refuse(domain.ErrConflict,
			"vectors are kept by the hash of their text and follow the log by themselves").
			WithFix("annals replay meaning lets it read the log again; for another model change its setting, and restart")
	}
	if _, err := catalogue.FollowersOf(r.followers, name); err != nil {
		return err // it does not exist
	}
	return domain.Refuse(domain.ErrConflict, "%s follows the log by itself, and is not rebuilt", name)
}

// Start begins a rebuild, or continues the interrupted one, and returns at once. The error matches
// [domain.ErrConflict] if one is running or the disk has no room for it. It is a [domain.Invalid] if the order names
// what this program does not know.
func (r Rebuilds) Start(ctx context.Context, name string, order domain.RebuildOrder) (domain.Rebuild, error) {
	ctx = database.ForEveryTenant(ctx)
	if err := r.known(name); err != nil {
		return domain.Rebuild{}, err
	}
	if err := r.fits(ctx, name, order); err != nil {
		return domain.Rebuild{}, err
	}
	if _, err := r.Rebuilder.Start(ctx, order); err != nil {
		return domain.Rebuild{}, err
	}
	return r.Last(ctx, name)
}

// Last is the running rebuild, or else the last one. The error matches [domain.ErrNotFound] if there was none.
func (r Rebuilds) Last(ctx context.Context, name string) (domain.Rebuild, error) {
	ctx = database.ForEveryTenant(ctx)
	if err := r.known(name); err != nil {
		return domain.Rebuild{}, err
	}
	all, err := r.Versions.Versions(ctx)
	if err != nil {
		return domain.Rebuild{}, err
	}
	last := all[0]
	for _, v := range all {
		if v.Version > last.Version {
			last = v
		}
	}
	if last.Version == 1 { // it was not built by a rebuild
		return domain.Rebuild{}, domain.Refuse(domain.ErrNotFound, "%s has never been rebuilt", name)
	}
	found := domain.Rebuild{
		Projection: last.Name, Active: all[0].Version, Version: last.Version, State: last.State,
		WhatIf: last.WhatIf(), Settings: last.ComputedWith(), BeganAt: last.CreatedAt.Time, UpdatedAt: last.UpdatedAt.Time,
		Error: last.Trouble(), Report: last.Report,
	}
	if last.Unfinished() {
		found.Progress, err = r.progress(ctx, last)
	}
	return found, err
}

// progress is the progress of a rebuild in this process, or else what the catalogue says of it.
func (r Rebuilds) progress(ctx context.Context, v catalogue.Listed) (*domain.RebuildProgress, error) {
	if progress, running := r.Progress(); running && progress.Version == v.Version {
		if progress.Phase != phaseIndexing || v.State != catalogue.StateBuilding {
			progress.Phase = v.State
		}
		return &progress, nil
	}
	progress := domain.RebuildProgress{Projection: v.Name, Version: v.Version, Phase: v.State}
	p := r.Versions
	var left int64
	err := p.DB.NewSelect().Model((*sliceRow)(nil)).
		ColumnExpr("coalesce(sum(CASE WHEN loaded_at IS NULL THEN 0 ELSE streams END), 0)").
		ColumnExpr("coalesce(sum(events), 0)").
		ColumnExpr("coalesce(sum(CASE WHEN loaded_at IS NULL THEN 1 ELSE 0 END), 0)").
		Where("projection = ?", v.Name).Where("version = ?", v.Version).
		Scan(ctx, &progress.Streams, &progress.Events, &left)
	if v.State == catalogue.StateBuilding && left == 0 && progress.Streams > 0 {
		progress.Phase = phaseIndexing
	}
	if err == nil {
		err = p.DB.NewSelect().TableExpr("? AS k", p.Active().Tables.Knowledge).ColumnExpr("count(*)").
			Scan(ctx, &progress.Total)
	}
	if err != nil {
		return nil, rows.Failed(ctx, "read how far a rebuild has come", err)
	}
	return &progress, nil
}

// Cancel abandons the running rebuild and returns it. The error matches [domain.ErrNotFound] if there is none, and
// [domain.ErrConflict] if it has finished.
func (r Rebuilds) Cancel(ctx context.Context, name string) (domain.Rebuild, error) {
	ctx = database.ForEveryTenant(ctx)
	if err := r.known(name); err != nil {
		return domain.Rebuild{}, err
	}
	if err := r.Rebuilder.Cancel(ctx); err != nil {
		return domain.Rebuild{}, err
	}
	return r.Last(ctx, name)
}

// Rollback makes the previously active version active again. The error matches [domain.ErrNotFound] if none is kept,
// and [domain.ErrConflict] if a repair has replaced it.
func (r Rebuilds) Rollback(ctx context.Context, name string) error {
	ctx = database.ForEveryTenant(ctx)
	err := r.known(name)
	if err == nil {
		_, err = r.Versions.Rollback(ctx)
	}
	return err
}

// Retire retires the version that a rollback would lead to. The error matches [domain.ErrNotFound] if there is none.
func (r Rebuilds) Retire(ctx context.Context, name string) error {
	ctx = database.ForEveryTenant(ctx)
	if name == catalogue.MeaningName {
		return r.models.RetirePrevious(ctx)
	}
	if err := r.known(name); err != nil {
		return err
	}
	var e catalogue.Entry
	found, err := r.Versions.newestIn(ctx, &e, catalogue.StateStandby)
	if err != nil {
		return err
	}
	if !found {
		return domain.Refuse(domain.ErrNotFound, "no earlier version of %s is being kept", name)
	}
	return r.Versions.Retire(ctx)
}
