package vectors

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// RetirePrevious drops the vectors of models that are not configured any more. A model that is configured again
// starts anew. The next [Models.DropRetired] drops the tables. The error matches [domain.ErrNotFound] if there are
// none.
func (s *Models) RetirePrevious(ctx context.Context) error {
	p := s.catalogue
	retired := 0
	err := p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, p.DB.Engine, tx); err != nil {
			return err
		}
		all, err := s.retained(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range all {
			if err := abandon(ctx, tx, e, database.At(p.Now())); err != nil {
				return fmt.Errorf("give up version %d of meaning: %w", e.Version, err)
			}
		}
		retired = len(all)
		return nil
	})
	if err == nil && retired == 0 {
		err = domain.Refuse(domain.ErrNotFound, "no vectors of an earlier model are kept")
	}
	return err
}

// retained are the retired versions whose tables still exist.
func (s *Models) retained(ctx context.Context, tx bun.IDB) ([]catalogue.Entry, error) {
	var all, kept []catalogue.Entry
	err := tx.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).Where("state = ?", catalogue.StateRetired).
		OrderExpr("version").Scan(ctx)
	for _, e := range all {
		if e.Settings["dropped"] == "" {
			kept = append(kept, e)
		}
	}
	return kept, err
}

// abandon frees the name of a version's model and deletes its checkpoints. The number of the model is not reused,
// because table names contain it.
func abandon(ctx context.Context, tx bun.IDB, e catalogue.Entry, now database.Time) error {
	var of Model
	if err := tx.NewSelect().Model(&of).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
		return err
	}
	t := TablesOf(e.Version, of)
	settings := maps.Clone(e.Settings)
	settings["dropped"], settings[catalogue.SettingVectors] = now.String(), string(t.Vectors)
	_, err := tx.NewUpdate().Model(&catalogue.Entry{Settings: settings}).Column("settings").Set("updated_at = ?", now).
		Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("given up %d: %s", of.Number, of.Name)
	if _, err := tx.NewRaw("UPDATE spaces SET name = ? WHERE number = ?", name, of.Number).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewRaw("DELETE FROM checkpoints WHERE projection = ?", t.checkpoint()).Exec(ctx)
	return err
}

// DropRetired drops the tables of versions that were abandoned a while ago.
func (s *Models) DropRetired(ctx context.Context) error {
	p := s.catalogue
	var all []catalogue.Entry
	err := p.DB.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).
		Where("state = ?", catalogue.StateRetired).
		Where("updated_at < ?", database.At(p.Now().Add(-catalogue.DropDelay))).Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	for _, e := range all {
		if e.Settings[catalogue.SettingVectors] == "" {
			continue
		}
		if err := s.drop(ctx, e); err != nil {
			return fmt.Errorf("drop version %d of meaning: %w", e.Version, err)
		}
	}
	return nil
}

func (s *Models) drop(ctx context.Context, e catalogue.Entry) error {
	p := s.catalogue
	pieces, vectors := TablesOf(e.Version, Model{}).pieces, bun.Ident(e.Settings[catalogue.SettingVectors])
	if err := p.EmptyBy(ctx, pieces, "tenant", "number", "piece"); err != nil {
		return err
	}
	if err := p.EmptyBy(ctx, vectors, "rowid"); err != nil {
		return err
	}
	return p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.DB.Engine == database.Postgres { // a backup may still read them
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
		delete(settings, catalogue.SettingVectors)
		_, err := tx.NewUpdate().Model(&catalogue.Entry{Settings: settings}).Column("settings").
			Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
		return err
	})
}

// Statuses are the states of the models whose vectors exist, the built-in one first, then the active one.
func (s *Models) Statuses(
	ctx context.Context, followers *follow.Followers, tenant string, head int64,
) ([]domain.ProjectionStatus, error) {
	p := s.catalogue
	var all []catalogue.Listed
	err := p.DB.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).
		OrderExpr("CASE WHEN version = ? THEN 0 WHEN state = ? THEN 1 ELSE 2 END, version DESC",
			s.Builtin.Tables.version, catalogue.StateActive).Scan(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read the catalogue", err)
	}
	var list []domain.ProjectionStatus
	for _, v := range all {
		if v.Dropped() {
			continue
		}
		status, err := s.status(ctx, v, followers, tenant, head)
		if err != nil {
			return nil, err
		}
		list = append(list, status)
	}
	return list, nil
}

func (s *Models) status(
	ctx context.Context, v catalogue.Listed, followers *follow.Followers, tenant string, head int64,
) (domain.ProjectionStatus, error) {
	status := domain.ProjectionStatus{
		Name: v.Name, Version: v.Version, State: v.State, Head: head, Settings: v.ComputedWith(),
		CreatedAt: v.CreatedAt.Time, UpdatedAt: v.UpdatedAt.Time,
	}
	name := Tables{version: v.Version}.checkpoint()
	f, err := followers.SubscriptionStatus(ctx, name, tenant)
	if err != nil {
		return status, err
	}
	status = f.Describe(status)
	if read := s.Active.Load(); read.Tables.version == v.Version {
		read.Cache.describe(read.Embedder.Dims(), status.Settings)
		failure, _ := read.failure.Load().(string)
		status.Error = cmp.Or(status.Error, failure)
		if !read.reachable() {
			status.Error = "searches do without it: this server is not configured for the model of these vectors"
		}
	}
	return status, nil
}

// Erase deletes the items' pieces, and vectors that no piece of another item needs. The event tells indexes in
// memory.
func Erase(
	ctx context.Context, tx bun.IDB, entries []catalogue.Entry, r catalogue.Footprint, script *rows.Script,
) error {
	var hashes [][]byte
	for i := range r.Revisions {
		for _, piece := range Pieces(&r.Revisions[i]) {
			hashes = append(hashes, piece.Hash[:])
		}
	}
	slices.SortFunc(hashes, bytes.Compare)
	hashes = slices.CompactFunc(hashes, bytes.Equal)
	var spaces []Model
	if err := tx.NewSelect().Model(&spaces).OrderExpr("number").Scan(ctx); err != nil {
		return err
	}
	for _, s := range spaces {
		vectors := tx.NewDelete().TableExpr("? AS v", TablesOf(0, s).Vectors).
			Where("v.tenant = ?", r.Tenant).Where("v.text_hash IN (?)", bun.List(hashes))
		known := false
		for _, e := range entries {
			if e.Name != catalogue.MeaningName || e.Settings["dropped"] != "" || e.Settings["space"] != s.Name {
				continue
			}
			known = true
			t := TablesOf(e.Version, s)
			script.AddQuery(tx.NewDelete().TableExpr("?", t.pieces).
				Where("tenant = ?", r.Tenant).Where("number IN (?)", bun.List(r.Numbers)))
			vectors.Where("NOT EXISTS (SELECT 1 FROM ? AS m WHERE m.tenant = v.tenant AND m.text_hash = v.text_hash)", t.pieces)
		}
		if known && len(hashes) > 0 {
			script.AddQuery(vectors)
		}
	}
	return nil
}
