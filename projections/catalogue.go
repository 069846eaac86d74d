package projections

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// entry is a version of a projection in the catalogue.
type entry struct {
	bun.BaseModel `bun:"table:projections,alias:p"`

	Name      string            `bun:"name,pk"`
	Version   int               `bun:"version,pk"`
	State     string            `bun:"state"`
	Settings  map[string]string `bun:"settings,type:json"`
	CreatedAt database.Time     `bun:"created_at"`
	UpdatedAt database.Time     `bun:"updated_at"`
}

// States of a version, of those the catalogue allows.
const (
	stateBuilding  = "building"    // being loaded from the log
	stateCatching  = "catching_up" // loaded, reading what came since
	stateVerifying = "verifying"   // compared with an independent fold of the log
	stateReady     = "ready"       // verified, and written with every append
	stateActive    = "active"      // read
	stateDraining  = "draining"    // was active; still written, so that going back loses nothing
	stateRetired   = "retired"     // not written any more
	stateFailed    = "failed"
)

// knowledgeName and meaningName are the projections there are.
const (
	knowledgeName = "knowledge"
	meaningName   = "meaning"
)

// ensureActive makes sure that there is a version for readers and writers: the first call on an empty
// database creates it, with its tables, and the view that people read. Several processes may ask at
// once.
func ensureActive(ctx context.Context, db *database.DB, settings map[string]string, now database.Time) error {
	exists, err := hasActive(ctx, db)
	if err != nil || exists {
		return err
	}
	err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockCatalogue(ctx, db.Engine, tx); err != nil {
			return err
		}
		exists, err := hasActive(ctx, tx)
		if err != nil || exists {
			return err
		}
		return create(ctx, db.Engine, tx, entry{
			Name: knowledgeName, Version: 1, State: stateActive, Settings: settings, CreatedAt: now, UpdatedAt: now,
		})
	})
	if err != nil {
		return fmt.Errorf("open the catalogue: %w", err)
	}
	return nil
}

func hasActive(ctx context.Context, db bun.IDB) (bool, error) {
	return db.NewSelect().Model((*entry)(nil)).
		Where("name = ?", knowledgeName).Where("state = ?", stateActive).Exists(ctx)
}

func create(ctx context.Context, engine database.Engine, tx bun.IDB, e entry) error {
	tables, err := definition(engine, knowledgeName, e.Version)
	if err != nil {
		return err
	}
	indexes, err := definition(engine, knowledgeName+"_indexes", e.Version)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, tables+indexes+view(e.Version)); err != nil {
		return fmt.Errorf("create the tables of %s %d: %w", e.Name, e.Version, err)
	}
	_, err = tx.NewInsert().Model(&e).Exec(ctx)
	return err
}

// view is the definition of what people read.
func view(version int) string {
	return fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM %s;", knowledgeName, tablesOf(version).knowledge)
}

// lockCatalogue keeps other processes from changing the catalogue until the transaction ends.
func lockCatalogue(ctx context.Context, engine database.Engine, tx bun.IDB) error {
	if engine != database.Postgres {
		return nil // the one writer is the lock
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('annals.catalogue', 0))")
	return err
}
