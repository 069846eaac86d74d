package rebuild

import (
	"context"
	"fmt"
	"maps"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// DropRetired drops the tables of versions that retired or failed a while ago. It retires those that no rollback
// leads to any more.
func (p *Versions) DropRetired(ctx context.Context) error {
	if err := p.retireOlder(ctx); err != nil {
		return err
	}
	if err := p.recordGivenUp(ctx); err != nil {
		return err
	}
	var old []catalogue.Entry
	err := p.DB.NewSelect().Model(&old).Where("name = ?", catalogue.KnowledgeName).
		Where("state IN (?)", bun.List([]string{catalogue.StateRetired, catalogue.StateFailed})).
		Where("updated_at < ?", database.At(p.Now().Add(-catalogue.DropDelay))).Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	for _, e := range old {
		if e.Settings["dropped"] != "" {
			continue
		}
		err := p.LookAt(ctx, p.DB, false, e)
		if err == nil {
			err = p.drop(ctx, p.VersionOf(e))
		}
		if err != nil {
			return fmt.Errorf("drop version %d of knowledge: %w", e.Version, err)
		}
	}
	return nil
}

// drop removes a version's tables, slices and checkpoints.
func (p *Versions) drop(ctx context.Context, v catalogue.Version) error {
	all := append(v.Tables.All(), v.Tables.Unread...)
	for _, table := range all {
		if err := p.Empty(ctx, v.Tables, table); err != nil {
			return fmt.Errorf("empty %s: %w", table, err)
		}
	}
	return p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.DB.Engine == database.Postgres {
			// A backup may still be reading them; then the next call drops them.
			if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '1s'"); err != nil {
				return err
			}
		}
		for _, table := range all {
			if _, err := tx.NewRaw("DROP TABLE IF EXISTS ?", table).Exec(ctx); err != nil {
				return fmt.Errorf("drop %s: %w", table, err)
			}
		}
		_, err := tx.NewRaw("DELETE FROM rebuild_slices WHERE projection = ? AND version = ?", catalogue.KnowledgeName,
			v.Version).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = tx.NewRaw("DELETE FROM checkpoints WHERE projection = ?", v.Checkpoint()).Exec(ctx)
		if err != nil {
			return err
		}
		settings := maps.Clone(v.Settings)
		settings["dropped"] = database.At(p.Now()).String()
		_, err = tx.NewUpdate().Model(&catalogue.Entry{Settings: settings}).Column("settings").
			Where("name = ?", catalogue.KnowledgeName).Where("version = ?", v.Version).Exec(ctx)
		return err
	})
}
