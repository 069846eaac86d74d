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

// openMeaningTables finds or creates the version for the embedder's model. The first version of a database is active
// at once; until its vectors are computed, searches use words alone. Any other catches up with the log while the
// active one is read. Versions whose tables have another form are given up.
func openMeaningTables(
	ctx context.Context, db *database.DB, embedder embedding.Embedder, now database.Time,
) (Tables, error) {
	var found Tables
	err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, db.Engine, tx); err != nil {
			return err
		}
		kept, err := giveUpOtherForms(ctx, db.Engine, tx, embedder.Name(), now)
		if err != nil {
			return err
		}
		s, err := openEmbeddingModel(ctx, tx, embedder, now)
		if err != nil {
			return err
		}
		if kept != "" {
			_, err := tx.NewRaw("ALTER TABLE ? RENAME TO ?", kept, TablesOf(0, s).Vectors).Exec(ctx)
			if err != nil {
				return err
			}
		}
		version, err := openVersion(ctx, db.Engine, tx, s, now)
		found = TablesOf(version, s)
		return err
	})
	if err != nil {
		return found, fmt.Errorf("open the space %s: %w", embedder.Name(), err)
	}
	return found, nil
}

// giveUpOtherForms gives up the versions whose tables this program would make otherwise. It returns the table of
// vectors of the named model that a new version can use, if there is one: then no text is sent to the model again.
func giveUpOtherForms(
	ctx context.Context, engine database.Engine, tx bun.IDB, name string, now database.Time,
) (kept bun.Ident, err error) {
	var all []catalogue.Entry
	if err := tx.NewSelect().Model(&all).Where("name = ?", catalogue.MeaningName).Scan(ctx); err != nil {
		return "", err
	}
	there, err := database.ReadLayout(ctx, tx, engine)
	if err != nil {
		return "", err
	}
	for _, e := range all {
		if e.Settings["dropped"] != "" {
			continue
		}
		var of Model
		if err := tx.NewSelect().Model(&of).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
			return "", err
		}
		t := TablesOf(e.Version, of)
		definition, err := Definition(engine, t)
		if err != nil {
			return "", err
		}
		made := database.LayoutMade(definition)
		same := func(table bun.Ident) bool { return made.SameAs(there, string(table)) }
		if same(t.pieces) && same(t.Vectors) {
			continue
		}
		if of.Name == name && same(t.Vectors) {
			kept = t.Vectors
		}
		if err := abandon(ctx, tx, e, now); err != nil {
			return "", err
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
	newest, inUse := 0, false
	var mine *catalogue.Entry
	for i, e := range all {
		newest, inUse = max(newest, e.Version), inUse || e.State == catalogue.StateActive && e.Settings["dropped"] == ""
		if e.Settings["space"] == s.Name && e.Settings["dropped"] == "" {
			mine = &all[i]
		}
	}
	if mine == nil {
		mine = &catalogue.Entry{
			Name: catalogue.MeaningName, Version: newest + 1, State: catalogue.StateRetired,
			Settings: map[string]string{"space": s.Name}, CreatedAt: now, UpdatedAt: now,
		}
		if err := createMeaning(ctx, engine, tx, *mine, s); err != nil {
			return 0, err
		}
	}
	if !inUse {
		return mine.Version, activate(ctx, tx, *mine, now)
	}
	return mine.Version, catchUpBeside(ctx, tx, *mine, now)
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

// catchUpBeside makes a version the next active one, and retires any other that is catching up: the process that
// started last decides.
func catchUpBeside(ctx context.Context, tx bun.IDB, e catalogue.Entry, now database.Time) error {
	_, err := tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("state = ?, updated_at = ?", catalogue.StateRetired, now).
		Where("name = ?", e.Name).Where("state = ?", catalogue.StateCatching).Where("version <> ?", e.Version).Exec(ctx)
	if err != nil || e.State != catalogue.StateRetired {
		return err
	}
	_, err = tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("state = ?, updated_at = ?", catalogue.StateCatching, now).
		Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
	return err
}

// activate lets one version of meaning take over from another.
func activate(ctx context.Context, tx bun.IDB, e catalogue.Entry, now database.Time) error {
	_, err := tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("state = ?, updated_at = ?", catalogue.StateRetired, now).
		Where("name = ?", e.Name).Where("state = ?", catalogue.StateActive).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("state = ?, updated_at = ?", catalogue.StateActive, now).
		Where("name = ?", e.Name).Where("version = ?", e.Version).Exec(ctx)
	return err
}
