package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
)

// Model is an embedding model whose vectors are stored, in a table of its own.
type Model struct {
	bun.BaseModel `bun:"table:spaces,alias:s"`

	Number    int           `bun:"number,pk"`
	Name      string        `bun:"name"`
	Dims      int           `bun:"dims"`
	CreatedAt database.Time `bun:"created_at"`
}

// Tables names the tables of one version of the projection of meaning.
type Tables struct {
	version int
	model   int
	dims    int

	pieces  bun.Ident
	Vectors bun.Ident
}

func (t Tables) checkpoint() string { return catalogue.MeaningName + "_" + strconv.Itoa(t.version) }

func TablesOf(version int, s Model) Tables {
	return Tables{
		version: version, model: s.Number, dims: s.Dims,
		pieces:  bun.Ident(fmt.Sprintf("meaning_%d", version)),
		Vectors: bun.Ident(fmt.Sprintf("vectors_%d", s.Number)),
	}
}

// openMeaningTables finds or creates the versions of some embedders' models: the built-in one and the configured one,
// which may be the same. A configured model is active at once if no other model is: until its vectors are computed,
// the rest answers. Otherwise it catches up with the log while the other one is read. Versions whose tables have
// another form are given up.
func openMeaningTables(
	ctx context.Context, db *database.DB, builtin, configured embedding.Embedder, now database.Time,
) (both [2]Tables, err error) {
	if db.Standby() { // a process on the primary decides on the configured one
		configured = builtin
	}
	err = db.TransactHere(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, db.Engine, tx); err != nil {
			return err
		}
		kept, err := giveUpOtherForms(ctx, db.Engine, tx, now)
		if err != nil {
			return err
		}
		for i, e := range [...]embedding.Embedder{builtin, configured} {
			s, err := openEmbeddingModel(ctx, tx, e, now)
			if err != nil {
				return err
			}
			if table := kept[s.Name]; table != "" {
				_, err := tx.NewRaw("ALTER TABLE ? RENAME TO ?", table, TablesOf(0, s).Vectors).Exec(ctx)
				if err != nil {
					return err
				}
				delete(kept, s.Name)
			}
			version, err := openVersion(ctx, db.Engine, tx, s, now)
			if err != nil {
				return err
			}
			both[i] = TablesOf(version, s)
		}
		if db.Standby() {
			return nil
		}
		return offer(ctx, tx, both[1].version, both[0].version, false, now)
	})
	if err != nil {
		return both, fmt.Errorf("open the space %s: %w", configured.Name(), err)
	}
	return both, nil
}

// giveUpOtherForms gives up the versions whose tables this program would make otherwise. It returns the tables of
// vectors that a new version can use, by the names of their models: then no text is sent to the model again.
func giveUpOtherForms(
	ctx context.Context, engine database.Engine, tx bun.IDB, now database.Time,
) (kept map[string]bun.Ident, err error) {
	kept = map[string]bun.Ident{}
	var all []catalogue.Entry
	if err := tx.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).Scan(ctx); err != nil {
		return nil, err
	}
	there, err := database.ReadLayout(ctx, tx, engine)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Settings["dropped"] != "" {
			continue
		}
		var of Model
		if err := tx.NewSelect().Model(&of).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
			return nil, err
		}
		t := TablesOf(e.Version, of)
		definition, err := Definition(engine, t)
		if err != nil {
			return nil, err
		}
		made := database.LayoutMade(definition)
		same := func(table bun.Ident) bool { return made.SameAs(there, string(table)) }
		if same(t.pieces) && same(t.Vectors) {
			continue
		}
		if same(t.Vectors) {
			kept[of.Name] = t.Vectors
		}
		if err := abandon(ctx, tx, e, now); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func openEmbeddingModel(
	ctx context.Context, tx bun.IDB, embedder embedding.Embedder, now database.Time,
) (Model, error) {
	var s Model
	err := tx.NewSelect().Model(&s).Where("name = ?", embedder.Name()).Scan(ctx)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	s = Model{Name: embedder.Name(), Dims: embedder.Dims(), CreatedAt: now}
	err = tx.NewSelect().TableExpr("spaces").ColumnExpr("coalesce(max(number), 0) + 1").Scan(ctx, &s.Number)
	if err != nil {
		return s, err
	}
	_, err = tx.NewInsert().Model(&s).Exec(ctx)
	return s, err
}

func openVersion(ctx context.Context, engine database.Engine, tx bun.IDB, s Model, now database.Time) (int, error) {
	var all []catalogue.Entry
	err := tx.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).OrderExpr("version DESC").Scan(ctx)
	if err != nil {
		return 0, err
	}
	newest := 0
	for _, e := range all {
		if e.Settings["space"] == s.Name && e.Settings["dropped"] == "" {
			return e.Version, nil
		}
		newest = max(newest, e.Version)
	}
	e := catalogue.Entry{
		Name: catalogue.MeaningName, Version: newest + 1, State: catalogue.StateRetired,
		Settings: map[string]string{"space": s.Name}, CreatedAt: now, UpdatedAt: now,
	}
	return e.Version, createMeaning(ctx, engine, tx, e, s)
}

// Definition is the SQL that creates a version's tables.
func Definition(engine database.Engine, t Tables) (string, error) {
	return rows.Definition(engine, catalogue.MeaningName, struct{ Version, Space, Dims, Bits int }{
		t.version, t.model, t.dims, 8 * embedding.SketchBytes(t.dims),
	})
}

func createMeaning(ctx context.Context, engine database.Engine, tx bun.IDB, e catalogue.Entry, s Model) error {
	tables, err := Definition(engine, TablesOf(e.Version, s))
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	_, err = tx.NewInsert().Model(&e).Exec(ctx)
	return err
}

// offer makes the configured version active if no other model is, or else the next active one: the process that
// started last decides. The built-in version stays what searches read, too. A command that does not serve is
// configured for no model, and gives none up.
func offer(ctx context.Context, tx bun.IDB, configured, builtin int, serves bool, now database.Time) error {
	var all []catalogue.Entry
	err := tx.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).
		Where("state = ?", catalogue.StateActive).Scan(ctx)
	if err != nil {
		return err
	}
	read := 0
	for _, e := range all {
		if e.Settings["dropped"] == "" {
			read = e.Version
		}
	}
	switch {
	case read == 0, read == builtin && configured != builtin:
		err = activate(ctx, tx, configured, builtin, now)
	case read != configured && (serves || configured != builtin):
		err = move(ctx, tx, catalogue.StateCatching, now, "version = ?", configured)
	}
	if err == nil && (serves || configured != builtin) {
		err = move(ctx, tx, catalogue.StateRetired, now, "version <> ? AND state = ?", configured, catalogue.StateCatching)
	}
	if err == nil {
		err = move(ctx, tx, catalogue.StateReady, now, "version = ? AND state = ?", builtin, catalogue.StateRetired)
	}
	return err
}

// activate lets one version of meaning take over from another. The built-in one stays ready.
func activate(ctx context.Context, tx bun.IDB, version, builtin int, now database.Time) error {
	err := move(ctx, tx, catalogue.StateRetired, now, "state = ?", catalogue.StateActive)
	if err == nil {
		err = move(ctx, tx, catalogue.StateActive, now, "version = ?", version)
	}
	if err == nil && version != builtin {
		err = move(ctx, tx, catalogue.StateReady, now, "version = ?", builtin)
	}
	return err
}

// move gives versions of meaning another state.
func move(ctx context.Context, tx bun.IDB, to string, now database.Time, which string, args ...any) error {
	_, err := tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("state = ?, updated_at = ?", to, now).
		Where("name = ?", catalogue.MeaningName).Where(which, args...).Exec(ctx)
	return err
}
