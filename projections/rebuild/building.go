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
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Versions begins, switches and drops the versions of the knowledge projection, and records what happens to them.
type Versions struct {
	*catalogue.Catalogue
	history atomic.Pointer[events.Log] // in which is recorded what happens to the projection; nil without a Rebuilder
}

// begin finds the version that is being built, or makes the next one: its tables without indexes, and
// for each tenant the position that it will be loaded up to.
func (p *Versions) begin(ctx context.Context, log *follow.Log, order domain.RebuildOrder) (catalogue.Version, error) {
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
			return domain.Refuse(domain.ErrConflict, "somebody else began to rebuild knowledge just now").
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

// preparedDefinitions are what a version consists of before it is loaded. SQLite's indexes are there from
// the beginning: to build one of a large table, its writer would pause for as long as that takes.
func preparedDefinitions(engine database.Engine) []string {
	if engine == database.SQLite {
		return []string{catalogue.KnowledgeName, catalogue.KnowledgeName + "_indexes"}
	}
	return []string{catalogue.KnowledgeName}
}

func (p *Versions) prepare(ctx context.Context, tx bun.IDB, log *follow.Log, v catalogue.Version) error {
	for _, name := range preparedDefinitions(p.DB.Engine) {
		tables, err := rows.Definition(p.DB.Engine, name, v.Version)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, tables); err != nil {
			return fmt.Errorf("create the tables of version %d: %w", v.Version, err)
		}
	}
	if _, err := tx.NewInsert().Model(&v.Entry).Exec(ctx); err != nil {
		return err
	}
	tenants, err := log.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants { // those that come later are caught up with from their beginning
		position, eventID, err := log.Head(ctx, tenant)
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

// unfinished is the version that a rebuild has still to work on. The error matches
// [domain.ErrConflict] if this program would not build it as it was begun.
func (p *Versions) unfinished(ctx context.Context) (catalogue.Version, bool, error) {
	var e catalogue.Entry
	found, err := p.newestIn(ctx, &e, catalogue.UnfinishedStates...)
	if err != nil || !found {
		return catalogue.Version{}, false, err
	}
	v := p.VersionOf(e)
	if !e.WhatIf() && (v.Unsupported || v.Tokenizer.Version != p.Tokenizers[0].Version) {
		return catalogue.Version{}, false, domain.Refuse(domain.ErrConflict, "version %d was begun by another release",
			e.Version).WithFix("cancel it")
	}
	return v, true, nil
}

// state is a version's state by now.
func (p *Versions) state(ctx context.Context, db bun.IDB, v catalogue.Version) (state string, err error) {
	err = db.NewSelect().Model((*catalogue.Entry)(nil)).Column("state").
		Where("name = ?", catalogue.KnowledgeName).Where("version = ?", v.Version).Scan(ctx, &state)
	if err != nil {
		return "", rows.Failed(ctx, "read the catalogue", err)
	}
	return state, nil
}

// advance moves a version from one state to the next, in a transaction of the caller's. The error is
// errMoved if it is not in the first.
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

// fail gives up what a rebuild has built, and keeps its entry with the reason. The error is errMoved if
// there is nothing to give up any more.
func (p *Versions) fail(ctx context.Context, v catalogue.Version, reason error) error {
	state := catalogue.StateFailed
	if errors.Is(reason, errCancelled) {
		state = catalogue.StateRetired
	}
	return p.exclusively(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.DB.Engine == database.SQLite {
			return nil // it has one writer
		}
		// The process that works on the version must not keep appends waiting.
		_, err := tx.NewRaw("SELECT version FROM projections WHERE name = ? AND version = ? FOR UPDATE",
			catalogue.KnowledgeName, v.Version).Exec(ctx)
		return err
	}, func(ctx context.Context, tx bun.Tx) error {
		query := catalogue.AbandonVersion(tx, v.Entry, state, reason, database.At(p.Now())).
			Where("state IN (?)", bun.List(catalogue.UnfinishedStates))
		given, err := query.Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := given.RowsAffected(); err != nil || n == 0 {
			return errors.Join(fmt.Errorf("version %d is finished: %w", v.Version, catalogue.ErrMoved), err)
		}
		return p.record(ctx, tx, givenUp(v.Version, state, reason.Error()))
	})
}

// settingsFor are those of a version that is built by an order: the policy of the active version, unless
// the order names another, because which one suits is for people to decide; and whatever else this
// program does today, because that is what a release means to change.
func settingsFor(p *catalogue.Catalogue, order domain.RebuildOrder, active catalogue.Entry) (map[string]string, error) {
	settings := map[string]string{"confidence": active.Settings["confidence"], "tokenizer": p.Tokenizers[0].Version}
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

// notes are what stands with a version besides its settings.
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

// isFor refuses to go on with a version that was begun for another order.
func isFor(e catalogue.Entry, wanted map[string]string) error {
	if maps.Equal(e.Settings, wanted) {
		return nil
	}
	return domain.Refuse(domain.ErrConflict, "version %d of knowledge waits to be built, for another order", e.Version).
		WithFix("wait for it, or cancel it")
}

// errAbandoned is why a what-if ends whose process did.
var errAbandoned = fmt.Errorf("the server was stopped: %w", errCancelled)
