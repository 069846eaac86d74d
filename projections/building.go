package projections

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// unfinishedStates are those in which a rebuild has work left.
var unfinishedStates = []string{stateBuilding, stateCatching, stateVerifying, stateReady}

// checkpoint is the name under which a version's progress through the logs is kept.
func (v version) checkpoint() string { return fmt.Sprintf("%s_%d", knowledgeName, v.Version) }

// begin finds the version that is being built, or makes the next one: its tables without indexes, and
// for each tenant the position that it will be loaded up to.
func (p *Knowledge) begin(ctx context.Context, log *events.Log, order domain.RebuildOrder) (version, error) {
	if err := p.look(ctx, p.db); err != nil {
		return version{}, err
	}
	settings, err := p.settingsFor(order, p.active().entry)
	if err != nil {
		return version{}, err
	}
	v := p.versionOf(entry{Settings: settings})
	maps.Copy(settings, notes(order))
	waiting, found, err := p.unfinished(ctx)
	switch {
	case err != nil:
		return version{}, err
	case found && waiting.whatIf():
		if err := p.fail(ctx, waiting, errAbandoned); err != nil && !errors.Is(err, errMoved) {
			return version{}, err
		}
	case found:
		return waiting, waiting.isFor(settings)
	}
	if err := p.recordGivenUp(ctx); err != nil {
		return version{}, err
	}
	items, _, err := p.size(ctx)
	if err != nil {
		return version{}, err
	}
	err = p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockCatalogue(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		found, err := tx.NewSelect().Model((*entry)(nil)).Where("name = ?", knowledgeName).
			Where("state IN (?)", bun.List(unfinishedStates)).Exists(ctx)
		if err != nil {
			return err
		}
		if found {
			return domain.Refuse(domain.ErrConflict, "somebody else began to rebuild knowledge just now").WithFix("wait for it, or cancel it")
		}
		var newest int
		err = tx.NewSelect().Model((*entry)(nil)).ColumnExpr("max(version)").Where("name = ?", knowledgeName).Scan(ctx, &newest)
		if err != nil {
			return err
		}
		now := database.At(p.now())
		v.entry = entry{
			Name: knowledgeName, Version: newest + 1, State: stateBuilding, CreatedAt: now, UpdatedAt: now, Settings: settings,
		}
		v.tables = tablesOf(v.Version)
		if err := p.prepare(ctx, tx, log, v); err != nil {
			return err
		}
		return p.recordBegin(ctx, tx, v.entry, items)
	})
	return v, withRemedy(err)
}

// preparedDefinitions are what a version consists of before it is loaded. SQLite's indexes are there from
// the beginning: to build one of a large table, its writer would pause for as long as that takes.
func preparedDefinitions(engine database.Engine) []string {
	if engine == database.SQLite {
		return []string{knowledgeName, knowledgeName + "_indexes"}
	}
	return []string{knowledgeName}
}

func (p *Knowledge) prepare(ctx context.Context, tx bun.IDB, log *events.Log, v version) error {
	for _, name := range preparedDefinitions(p.db.Engine) {
		tables, err := definition(p.db.Engine, name, v.Version)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, tables); err != nil {
			return fmt.Errorf("create the tables of version %d: %w", v.Version, err)
		}
	}
	if _, err := tx.NewInsert().Model(&v.entry).Exec(ctx); err != nil {
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
		_, err = tx.NewRaw("INSERT INTO checkpoints (projection, tenant, position, event_id, updated_at) VALUES (?, ?, ?, ?, ?)",
			v.checkpoint(), tenant, position, eventID, v.CreatedAt).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// unfinished is the version that a rebuild has still to work on. The error matches
// [domain.ErrConflict] if this program would not build it as it was begun.
func (p *Knowledge) unfinished(ctx context.Context) (version, bool, error) {
	var e entry
	found, err := p.newestIn(ctx, &e, unfinishedStates...)
	if err != nil || !found {
		return version{}, false, err
	}
	v := p.versionOf(e)
	if !e.whatIf() && (v.unsupported || v.tokenizer.Version != p.tokenizers[0].Version) {
		return version{}, false, domain.Refuse(domain.ErrConflict, "version %d was begun by another release", e.Version).WithFix("cancel it")
	}
	return v, true, nil
}

// state is a version's state by now.
func (p *Knowledge) state(ctx context.Context, v version) (state string, err error) {
	err = p.db.NewSelect().Model((*entry)(nil)).Column("state").
		Where("name = ?", knowledgeName).Where("version = ?", v.Version).Scan(ctx, &state)
	if err != nil {
		return "", p.failed(ctx, "read the catalogue", err)
	}
	return state, nil
}

// errMoved says that a version is not in the state any more that somebody knew it in.
var errMoved = errors.New("moved on")

// advance moves a version from one state to the next, in a transaction of the caller's. The error is
// errMoved if it is not in the first.
func (p *Knowledge) advance(ctx context.Context, tx bun.IDB, v version, from, to string) error {
	was, err := p.version(ctx, tx, v.Version)
	if err != nil {
		return err
	}
	result, err := tx.NewUpdate().Model((*entry)(nil)).Set("state = ?, updated_at = ?", to, database.At(p.now())).
		Where("name = ?", knowledgeName).Where("version = ?", v.Version).Where("state = ?", from).Exec(ctx)
	if err != nil {
		return err
	}
	if moved, err := result.RowsAffected(); err != nil || moved == 0 {
		return errors.Join(fmt.Errorf("version %d is not %s any more: %w", v.Version, from, errMoved), err)
	}
	return p.recordMove(ctx, tx, was, to)
}

// fail gives up what a rebuild has built, and keeps its entry with the reason. The error is errMoved if
// there is nothing to give up any more.
func (p *Knowledge) fail(ctx context.Context, v version, reason error) error {
	state := stateFailed
	if errors.Is(reason, errCancelled) {
		state = stateRetired
	}
	return p.exclusively(ctx, func(ctx context.Context, tx bun.Tx) error {
		return p.holdEntry(ctx, tx, v.Version) // whoever works on it must not keep appends waiting
	}, func(ctx context.Context, tx bun.Tx) error {
		query := abandonVersion(tx, v.entry, state, reason, database.At(p.now())).Where("state IN (?)", bun.List(unfinishedStates))
		given, err := query.Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := given.RowsAffected(); err != nil || n == 0 {
			return errors.Join(fmt.Errorf("version %d is finished: %w", v.Version, errMoved), err)
		}
		return p.record(ctx, tx, givenUp(v.Version, state, reason.Error()))
	})
}

// holdEntry keeps a version's entry as it is until the transaction ends.
func (p *Knowledge) holdEntry(ctx context.Context, tx bun.IDB, version int) error {
	if p.db.Engine == database.SQLite {
		return nil // nobody else writes
	}
	_, err := tx.NewRaw("SELECT version FROM projections WHERE name = ? AND version = ? FOR UPDATE", knowledgeName, version).Exec(ctx)
	return err
}

// abandonVersion ends the building or writing of a version and says why.
func abandonVersion(tx bun.IDB, e entry, state string, reason error, now database.Time) *bun.UpdateQuery {
	e.Settings = maps.Clone(e.Settings)
	e.Settings["error"] = reason.Error()
	return tx.NewUpdate().Model(&e).Column("settings").Set("state = ?, updated_at = ?", state, now).
		Where("name = ?", knowledgeName).Where("version = ?", e.Version)
}

// dropDelay is for how long the tables of a version stay that is not written any more: some process may
// not have looked at the catalogue since, and a reader may be at work.
const dropDelay = 30 * time.Second

// Sweep drops the tables of versions that were retired or failed a while ago, and retires those that a
// rollback no longer leads to.
func (p *Knowledge) Sweep(ctx context.Context) error {
	if err := p.models.sweep(ctx); err != nil {
		return err
	}
	if err := p.retireOlder(ctx); err != nil {
		return err
	}
	if err := p.recordGivenUp(ctx); err != nil {
		return err
	}
	var old []entry
	err := p.db.NewSelect().Model(&old).Where("name = ?", knowledgeName).
		Where("state IN (?)", bun.List([]string{stateRetired, stateFailed})).
		Where("updated_at < ?", database.At(p.now().Add(-dropDelay))).Scan(ctx)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	for _, e := range old {
		if e.Settings["dropped"] != "" {
			continue
		}
		if err := p.drop(ctx, version{entry: e, tables: tablesOf(e.Version)}); err != nil {
			return fmt.Errorf("drop version %d of knowledge: %w", e.Version, err)
		}
	}
	return nil
}

// drop removes a version's tables and what is known of its progress.
func (p *Knowledge) drop(ctx context.Context, v version) error {
	pace := paced(p.db.Engine)
	for _, table := range v.tables.all() {
		if err := p.empty(ctx, pace, v.tables, table); err != nil {
			return fmt.Errorf("empty %s: %w", table, err)
		}
	}
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return p.forget(ctx, tx, v) })
}

func (p *Knowledge) forget(ctx context.Context, tx bun.IDB, v version) error {
	if p.db.Engine == database.Postgres {
		// Somebody may be reading them still, for a backup: the next sweep comes soon.
		if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '1s'"); err != nil {
			return err
		}
	}
	for _, table := range v.tables.all() {
		if _, err := tx.NewRaw("DROP TABLE IF EXISTS ?", table).Exec(ctx); err != nil {
			return fmt.Errorf("drop %s: %w", table, err)
		}
	}
	_, err := tx.NewRaw("DELETE FROM rebuild_slices WHERE projection = ? AND version = ?", knowledgeName, v.Version).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewRaw("DELETE FROM checkpoints WHERE projection = ?", v.checkpoint()).Exec(ctx)
	if err != nil {
		return err
	}
	settings := maps.Clone(v.Settings)
	settings["dropped"] = database.At(p.now()).String()
	_, err = tx.NewUpdate().Model(&entry{Settings: settings}).Column("settings").
		Where("name = ?", knowledgeName).Where("version = ?", v.Version).Exec(ctx)
	return err
}
