package past

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/search"
	"github.com/annals-kb/annals/projections/vectors"
)

// Projection is the background projection that answers what was known at a position of the log: what every
// item was, who could see it and how it had proved itself. Texts it reads from the log, where erasing
// destroys them. It is safe for concurrent use.
type Projection struct {
	catalogue *catalogue.Catalogue
	models    *vectors.Models
	browser   *browse.Browser
	searcher  *search.Searcher
	log       *follow.Log
	Tables    rows.PastTables
	patience  time.Duration
}

// Version is the version of its tables: other columns are another version.
const Version = 1

// Checkpoint is the name under which the projection keeps its checkpoints.
const Checkpoint = "past_1"

// foldName names how events are folded into rows, and changes with what [domain.Knowledge.Evolve] makes of them.
// With another one everything is computed anew. By past/1 what was superseded, forgotten and restored held again;
// by past/2 a confirmation with an end took away the reports before it.
const foldName = "past/3"

// maxWait is how long a question waits for the projection to have read what it asks about.
const maxWait = 2 * time.Second

// Open finds the projection in a migrated database, or creates it. Where another release has written
// it with another fold or tokeniser, or where tables lack a column, it begins anew.
func Open(
	ctx context.Context, p *catalogue.Catalogue, models *vectors.Models, browser *browse.Browser,
	searcher *search.Searcher, log *follow.Log,
) (*Projection, error) {
	past := &Projection{
		catalogue: p, models: models, browser: browser, searcher: searcher, log: log,
		Tables: rows.PastTablesOf(Version), patience: maxWait,
	}
	settings := map[string]string{"fold": foldName, "tokenizer": p.Tokenizers[0].Version}
	now := database.At(p.Now())
	made, err := rows.Definition(p.DB.Engine, catalogue.PastName, Version)
	if err != nil {
		return nil, err
	}
	lacking, err := database.MissingColumns(ctx, p.DB, made)
	if err != nil {
		return nil, err
	}
	err = p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, p.DB.Engine, tx); err != nil {
			return err
		}
		var known []catalogue.Entry
		err := tx.NewSelect().Model(&known).Where("name = ?", catalogue.PastName).Where("version = ?", Version).Scan(ctx)
		switch {
		case err != nil:
			return err
		case len(known) == 0:
			return past.create(ctx, tx, made, catalogue.Entry{
				Name: catalogue.PastName, Version: Version, State: catalogue.StateActive, Settings: settings, CreatedAt: now,
				UpdatedAt: now,
			})
		case len(lacking) > 0:
			return past.makeAgain(ctx, tx, made)
		case maps.Equal(known[0].Settings, settings):
			return nil
		}
		known[0].Settings, known[0].UpdatedAt = settings, now
		_, err = tx.NewUpdate().Model(&known[0]).Column("settings", "updated_at").WherePK().Exec(ctx)
		return errors.Join(err, past.clear(ctx, tx))
	})
	if err != nil {
		return nil, fmt.Errorf("open the past: %w", err)
	}
	return past, nil
}

func (p *Projection) create(ctx context.Context, tx bun.Tx, made string, e catalogue.Entry) error {
	if _, err := tx.ExecContext(ctx, made); err != nil {
		return err
	}
	_, err := tx.NewInsert().Model(&e).Exec(ctx)
	return err
}

// makeAgain makes tables that lack a column anew, and empty.
func (p *Projection) makeAgain(ctx context.Context, tx bun.Tx, made string) error {
	for _, table := range p.Tables.All() {
		if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS ?", table); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, made); err != nil {
		return err
	}
	return p.clear(ctx, tx)
}

// Name is the name under which the projection keeps its checkpoints.
func (p *Projection) Name() string { return Checkpoint }

// Follow lets the projection follow the log as a handler of the router.
func (p *Projection) Follow(router *message.Router) {
	follow.AddPreparer(router, p.log, p.Name(), p.Prepare)
}

// BeginAnew lets the projection read a tenant's log again from its beginning, in the background, into empty
// tables. Questions about the tenant's past wait meanwhile, and are refused if it takes long; all others are
// not concerned.
func (p *Projection) BeginAnew(ctx context.Context, tenant string) error {
	return p.log.Reset(ctx, p.Name(), tenant, func(ctx context.Context, tx bun.IDB) error {
		for _, table := range p.Tables.All() {
			if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE tenant = ?", table, tenant); err != nil {
				return fmt.Errorf("clear the past: %w", err)
			}
		}
		return nil
	})
}

// clear deletes what the projection has read of every tenant, and that it did.
func (p *Projection) clear(ctx context.Context, tx bun.IDB) error {
	for _, table := range []bun.Ident{"checkpoints", "quarantine"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE projection = ?", table, p.Name()); err != nil {
			return err
		}
	}
	for _, table := range p.Tables.All() {
		// Not TRUNCATE: a concurrent reader would find nothing, and take it for the past.
		if _, err := tx.ExecContext(ctx, "DELETE FROM ?", table); err != nil {
			return err
		}
	}
	return nil
}

// Status is how far the projection has read.
func (p *Projection) Status(
	ctx context.Context, log *follow.Log, tenant string, head int64,
) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{Name: catalogue.PastName, Version: Version, State: catalogue.StateActive, Head: head}
	var e catalogue.Entry
	err := p.catalogue.DB.NewSelect().Model(&e).Where("name = ?", catalogue.PastName).
		Where("version = ?", Version).Scan(ctx)
	if err != nil {
		return s, rows.Failed(ctx, "read the catalogue", err)
	}
	s.Settings, s.CreatedAt, s.UpdatedAt = e.Settings, e.CreatedAt.Time, e.UpdatedAt.Time
	f, err := log.SubscriptionStatus(ctx, p.Name(), tenant)
	return f.Describe(s), err
}
