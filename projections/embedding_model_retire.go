package projections

import (
	"context"
	"fmt"
	"maps"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// settingVectors names the table of vectors that is still to be dropped.
const settingVectors = "vectors"

// retire gives up the vectors of models that are not configured any more; a model that is configured again
// begins anew. The tables go with the next [Knowledge.Sweep]. The error matches [domain.ErrNotFound] if
// there are none.
func (s *embeddingModels) retire(ctx context.Context) error {
	p := s.knowledge
	given := 0
	err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockCatalogue(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		all, err := s.retained(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range all {
			if err := s.abandon(ctx, tx, e); err != nil {
				return fmt.Errorf("give up version %d of meaning: %w", e.Version, err)
			}
		}
		given = len(all)
		return nil
	})
	if err == nil && given == 0 {
		err = domain.Refuse(domain.ErrNotFound, "no vectors of an earlier model are kept")
	}
	return err
}

// retained are the versions that nobody reads or follows, and whose tables are there.
func (s *embeddingModels) retained(ctx context.Context, tx bun.IDB) ([]entry, error) {
	var all, kept []entry
	err := tx.NewSelect().Model(&all).Where("name = ?", meaningName).Where("state = ?", stateRetired).OrderExpr("version").Scan(ctx)
	for _, e := range all {
		if e.Settings["dropped"] == "" {
			kept = append(kept, e)
		}
	}
	return kept, err
}

// abandon lets go of a version's name and progress. The number of its space is not given out again, since
// tables are called by it.
func (s *embeddingModels) abandon(ctx context.Context, tx bun.IDB, e entry) error {
	var of embeddingModel
	if err := tx.NewSelect().Model(&of).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
		return err
	}
	t := meaningTablesOf(e.Version, of)
	now := database.At(s.knowledge.now())
	settings := maps.Clone(e.Settings)
	settings["dropped"], settings[settingVectors] = now.String(), string(t.vectors)
	_, err := tx.NewUpdate().Model(&entry{Settings: settings}).Column("settings").Set("updated_at = ?", now).
		Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.NewRaw("UPDATE spaces SET name = ? WHERE number = ?", fmt.Sprintf("given up %d: %s", of.Number, of.Name), of.Number).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewRaw("DELETE FROM checkpoints WHERE projection = ?", t.checkpoint()).Exec(ctx)
	return err
}

// sweep drops the tables of versions that were given up a while ago.
func (s *embeddingModels) sweep(ctx context.Context) error {
	p := s.knowledge
	var all []entry
	err := p.db.NewSelect().Model(&all).Where("name = ?", meaningName).Where("state = ?", stateRetired).
		Where("updated_at < ?", database.At(p.now().Add(-dropDelay))).Scan(ctx)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	for _, e := range all {
		if e.Settings[settingVectors] == "" {
			continue
		}
		if err := s.drop(ctx, e); err != nil {
			return fmt.Errorf("drop version %d of meaning: %w", e.Version, err)
		}
	}
	return nil
}

func (s *embeddingModels) drop(ctx context.Context, e entry) error {
	p := s.knowledge
	pieces, vectors := meaningTablesOf(e.Version, embeddingModel{}).pieces, bun.Ident(e.Settings[settingVectors])
	pace := paced(p.db.Engine)
	if err := p.emptyBy(ctx, pace, pieces, "tenant", "scope", "number", "piece"); err != nil {
		return err
	}
	if err := p.emptyBy(ctx, pace, vectors, "rowid"); err != nil {
		return err
	}
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.db.Engine == database.Postgres { // somebody may be reading them still, for a backup
			if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '1s'"); err != nil {
				return err
			}
		}
		for _, table := range []bun.Ident{pieces, vectors} {
			if _, err := tx.NewRaw("DROP TABLE IF EXISTS ?", table).Exec(ctx); err != nil {
				return fmt.Errorf("drop %s: %w", table, err)
			}
		}
		settings := maps.Clone(e.Settings)
		delete(settings, settingVectors)
		_, err := tx.NewUpdate().Model(&entry{Settings: settings}).Column("settings").
			Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
		return err
	})
}
