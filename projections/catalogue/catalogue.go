package catalogue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// Catalogue knows the versions of the knowledge projection, and which of them is read and which are written. It is
// safe for concurrent use.
type Catalogue struct {
	DB         *database.DB
	Log        *slog.Logger
	Now        func() time.Time
	Policies   map[string]domain.ConfidencePolicy // by name
	Tokenizers []text.Tokenizer                   // new versions are built with the first
	VersionSet atomic.Pointer[VersionSet]
	Unreadable atomic.Int64 // the version that was read last of those with unreadable rows

	tables sync.Map // [rows.Tables] in their form, by version
}

// Entry is a version of a projection in the catalogue.
type Entry struct {
	bun.BaseModel `bun:"table:projections,alias:p"`

	Name      string            `bun:"name,pk"`
	Version   int               `bun:"version,pk"`
	State     string            `bun:"state"`
	Settings  map[string]string `bun:"settings,type:json"`
	CreatedAt database.Time     `bun:"created_at"`
	UpdatedAt database.Time     `bun:"updated_at"`
}

// States of a version, among those that the catalogue allows.
const (
	StateBuilding  = "building"    // being loaded from the log
	StateCatching  = "catching_up" // loaded, reading what was appended since
	StateVerifying = "verifying"   // compared with an independent fold of the log
	StateReady     = "ready"       // verified, and written with every append
	StateActive    = "active"      // read
	StateStandby   = "standby"     // was active; still written, so that going back loses nothing
	StateRetired   = "retired"     // no longer written
	StateFailed    = "failed"
)

// The projections in the catalogue.
const (
	KnowledgeName = "knowledge"
	MeaningName   = "meaning"
	PastName      = "past"
)

// EnsureActive makes sure that there is an active version. The first call on an empty database creates it, with its
// tables and the view that people read. Several processes may call it at once.
func EnsureActive(ctx context.Context, db *database.DB, settings map[string]string, now database.Time) error {
	exists, err := hasActive(ctx, db)
	if err != nil || exists {
		return err
	}
	err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := LockCatalogue(ctx, db.Engine, tx); err != nil {
			return err
		}
		exists, err := hasActive(ctx, tx)
		if err != nil || exists {
			return err
		}
		return create(ctx, db.Engine, tx, Entry{
			Name: KnowledgeName, Version: 1, State: StateActive, Settings: settings, CreatedAt: now, UpdatedAt: now,
		})
	})
	if err != nil {
		return fmt.Errorf("open the catalogue: %w", err)
	}
	return nil
}

func hasActive(ctx context.Context, db bun.IDB) (bool, error) {
	return db.NewSelect().Model((*Entry)(nil)).
		Where("name = ?", KnowledgeName).Where("state = ?", StateActive).Exists(ctx)
}

func create(ctx context.Context, engine database.Engine, tx bun.IDB, e Entry) error {
	made, err := Definition(engine, e.Version, e.State)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, made+ViewDefinition(e.Version)); err != nil {
		return fmt.Errorf("create the tables of %s %d: %w", e.Name, e.Version, err)
	}
	_, err = tx.NewInsert().Model(&e).Exec(ctx)
	return err
}

// Definition is the SQL that creates what a version has in a state. On PostgreSQL indexes come when it is built. On
// SQLite building one over a large table would block all writers.
func Definition(engine database.Engine, version int, state string) (string, error) {
	tables, err := rows.Definition(engine, KnowledgeName, version)
	if err != nil || engine == database.Postgres && state == StateBuilding {
		return tables, err
	}
	indexes, err := rows.Definition(engine, KnowledgeName+"_indexes", version)
	return tables + indexes, err
}

// ViewDefinition is the definition of the view that people read.
func ViewDefinition(version int) string {
	return fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM %s;", KnowledgeName, rows.TablesOf(version).Knowledge.Name)
}

// LockCatalogue locks the catalogue against changes by other processes until the transaction ends.
func LockCatalogue(ctx context.Context, engine database.Engine, tx bun.IDB) error {
	if engine != database.Postgres {
		return nil // the single writer is the lock
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('annals.catalogue', 0))")
	return err
}

// New returns the catalogue of a database, before it is read. New versions are built with the first of the
// tokenizers.
func New(
	db *database.DB, log *slog.Logger, now func() time.Time, policies []domain.ConfidencePolicy,
	tokenizers []text.Tokenizer,
) *Catalogue {
	c := &Catalogue{DB: db, Log: log, Now: now, Policies: map[string]domain.ConfidencePolicy{}, Tokenizers: tokenizers}
	for _, policy := range policies {
		c.Policies[policy.Name] = policy
	}
	return c
}

// Footprint is what erased items have left: their numbers, and every revision of their texts.
type Footprint struct {
	Tenant    string
	IDs       []string
	Numbers   []int64
	Revisions []domain.Knowledge
}

// EraseFunc adds the statements that destroy everything that a projection computed from erased texts, in all of its
// versions.
type EraseFunc func(ctx context.Context, tx bun.IDB, versions []Entry, f Footprint, script *rows.Script) error

// KeepFunc adds the statements that write the rows of a projection of other streams than items, in the transaction of
// an append. It receives the events of these streams.
type KeepFunc func(tx bun.IDB, tenant string, events []domain.Event, script *rows.Script)
