package rebuild

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Versions begins, switches and drops the versions of the knowledge projection, and records their changes.
type Versions struct {
	*catalogue.Catalogue
	history atomic.Pointer[events.Log] // records changes of the projection; nil without a Rebuilder
}

// begin finds the version that is being built, or creates the next one: its tables, and for each tenant the position
// up to which it will be loaded.
func (p *Versions) begin(ctx context.Context, log *events.Log, order domain.RebuildOrder) (catalogue.Version, error) {
	if err := p.Reload(ctx, p.DB); err != nil {
		return catalogue.Version{}, err
	}
	settings, err := settingsFor(p.Catalogue, order, p.Active().Entry)
	if err != nil {
		return catalogue.Version{}, err
	}
	v := p.VersionOf(catalogue.Entry{Settings: settings})
	maps.Copy(settings, notes(order))
	waiting, found, err := p.unfinished(ctx)
	switch {
	case err != nil:
		return catalogue.Version{}, err
	case found && waiting.WhatIf():
		if err := p.fail(ctx, waiting, errAbandoned); err != nil && !errors.Is(err, catalogue.ErrMoved) {
			return catalogue.Version{}, err
		}
	case found:
		return waiting, isFor(waiting.Entry, settings)
	}
	if err := p.recordGivenUp(ctx); err != nil {
		return catalogue.Version{}, err
	}
	items, _, err := size(ctx, p.Catalogue)
	if err != nil {
		return catalogue.Version{}, err
	}
	err = p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, p.DB.Engine, tx); err != nil {
			return err
		}
		found, err := tx.NewSelect().Model((*catalogue.Entry)(nil)).Where("name = ?", catalogue.KnowledgeName).
			Where("state IN (?)", bun.List(catalogue.UnfinishedStates)).Exists(ctx)
		if err != nil {
			return err
		}
		if found {
			return domain.Refuse(domain.ErrConflict, "another process has just begun to rebuild knowledge").
				WithFix("wait for it, or cancel it")
		}
		var newest int
		err = tx.NewSelect().Model((*catalogue.Entry)(nil)).ColumnExpr("max(version)").
			Where("name = ?", catalogue.KnowledgeName).Scan(ctx, &newest)
		if err != nil {
			return err
		}
		now := database.At(p.Now())
		v.Entry = catalogue.Entry{
			Name: catalogue.KnowledgeName, Version: newest + 1, State: catalogue.StateBuilding, CreatedAt: now, UpdatedAt: now,
			Settings: settings,
		}
		v.Tables = rows.TablesOf(v.Version)
		if err := p.prepare(ctx, tx, log, v); err != nil {
			return err
		}
		return p.record(ctx, tx, domain.ProjectionStarted{Version: v.Version, Settings: settings, Items: items})
	})
	return v, rows.WithRemedy(err)
}

func (p *Versions) prepare(ctx context.Context, tx bun.IDB, log *events.Log, v catalogue.Version) error {
	made, err := catalogue.Definition(p.DB.Engine, v.Version, v.State)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, made); err != nil {
		return fmt.Errorf("create the tables of version %d: %w", v.Version, err)
	}
	if _, err := tx.NewInsert().Model(&v.Entry).Exec(ctx); err != nil {
		return err
	}
	tenants, err := log.Reader.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants { // catchUp reads later tenants from their beginning
		position, eventID, err := log.Reader.Head(ctx, tenant)
		if err != nil {
			return err
		}
		_, err = tx.NewRaw("INSERT INTO checkpoints (projection, tenant, position, event_id, updated_at) VALUES (?, ?, ?, "+
			"?, ?)",
			v.Checkpoint(), tenant, position, eventID, v.CreatedAt).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// unfinished is the version that a rebuild must still work on. The error matches [domain.ErrConflict] if another
// release began it and this one would build it differently.
func (p *Versions) unfinished(ctx context.Context) (catalogue.Version, bool, error) {
	var e catalogue.Entry
	found, err := p.newestIn(ctx, &e, catalogue.UnfinishedStates...)
	if err != nil || !found {
		return catalogue.Version{}, false, err
	}
	v := p.VersionOf(e)
	if !e.WhatIf() && (v.Unsupported || v.Tokenizer.Version != p.Tokenizers[0].Version ||
		e.Settings[catalogue.SettingForm] != rows.Form) {
		return v, true, domain.Refuse(domain.ErrConflict, "version %d was begun by another release",
			e.Version).WithFix("cancel it")
	}
	return v, true, nil
}

// state is a version's current state.
func (p *Versions) state(ctx context.Context, db bun.IDB, v catalogue.Version) (state string, err error) {
	err = db.NewSelect().Model((*catalogue.Entry)(nil)).Column("state").
		Where("name = ?", catalogue.KnowledgeName).Where("version = ?", v.Version).Scan(ctx, &state)
	if err != nil {
		return "", rows.Failed(ctx, "read the catalogue", err)
	}
	return state, nil
}

// advance moves a version from one state to the next in the caller's transaction. The error matches
// [catalogue.ErrMoved] if the version is not in the first state.
func (p *Versions) advance(ctx context.Context, tx bun.IDB, v catalogue.Version, from, to string) error {
	was, err := p.version(ctx, tx, v.Version)
	if err != nil {
		return err
	}
	result, err := tx.NewUpdate().Model((*catalogue.Entry)(nil)).
		Set("state = ?, updated_at = ?", to, database.At(p.Now())).
		Where("name = ?", catalogue.KnowledgeName).Where("version = ?", v.Version).Where("state = ?", from).Exec(ctx)
	if err != nil {
		return err
	}
	if moved, err := result.RowsAffected(); err != nil || moved == 0 {
		return errors.Join(fmt.Errorf("version %d is not %s any more: %w", v.Version, from, catalogue.ErrMoved), err)
	}
	return p.recordMove(ctx, tx, was, to)
}

// fail abandons an unfinished version, and keeps its entry with the reason. The error matches [catalogue.ErrMoved] if
// the version is not unfinished any more.
func (p *Versions) fail(ctx context.Context, v catalogue.Version, reason error) error {
	state := catalogue.StateFailed
	if errors.Is(reason, errCancelled) {
		state = catalogue.StateRetired
	}
	return p.exclusively(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.DB.Engine == database.SQLite {
			return nil // the single writer is the lock
		}
		// Wait here for the process that works on the version, while appends still go on.
		_, err := tx.NewRaw("SELECT version FROM projections WHERE name = ? AND version = ? FOR UPDATE",
			catalogue.KnowledgeName, v.Version).Exec(ctx)
		return err
	}, func(ctx context.Context, tx bun.Tx) error {
		query := catalogue.AbandonVersion(tx, v.Entry, state, reason, database.At(p.Now())).
			Where("state IN (?)", bun.List(catalogue.UnfinishedStates))
		result, err := query.Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(fmt.Errorf("version %d is finished: %w", v.Version, catalogue.ErrMoved), err)
		}
		return p.record(ctx, tx, givenUp(v.Version, state, reason.Error()))
	})
}

// settingsFor are the settings of a version that an order builds. The confidence policy is the order's, or else the
// active version's, because people choose it. All other settings are those of this release, because a release is
// meant to change them.
func settingsFor(p *catalogue.Catalogue, order domain.RebuildOrder, active catalogue.Entry) (map[string]string, error) {
	settings := map[string]string{
		"confidence": active.Settings["confidence"], "tokenizer": p.Tokenizers[0].Version,
		catalogue.SettingForm: rows.Form,
	}
	if order.Confidence != "" {
		if _, known := p.Policies[order.Confidence]; !known {
			var problems domain.Problems
			problems.Add("confidence", "must be one of %s", strings.Join(slices.Sorted(maps.Keys(p.Policies)), ", "))
			return nil, problems.Err()
		}
		settings["confidence"] = order.Confidence
	}
	return settings, nil
}

// notes are the notes of an order in the catalogue, besides the settings.
func notes(order domain.RebuildOrder) map[string]string {
	notes := map[string]string{}
	if order.Repair {
		notes[catalogue.SettingRepair] = "true"
	}
	if order.WhatIf {
		notes[catalogue.SettingWhatIf] = "true"
	}
	return notes
}

// isFor returns an error if a version was begun for another order.
func isFor(e catalogue.Entry, wanted map[string]string) error {
	if maps.Equal(e.Settings, wanted) {
		return nil
	}
	return domain.Refuse(domain.ErrConflict, "version %d of knowledge was begun for another order", e.Version).
		WithFix("wait for it, or cancel it")
}

// errAbandoned is why a what-if ends if its process ended.
var errAbandoned = fmt.Errorf("the server was stopped: %w", errCancelled)
