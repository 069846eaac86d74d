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

// Projection is the background projection of the past: what every item was at a position of the log, who could see
// it, and its votes and reports. It reads texts from the log, where an erasure destroys them. It is safe for
// concurrent use.
type Projection struct {
	catalogue *catalogue.Catalogue
	models    *vectors.Models
	browser   *browse.Browser
	searcher  *search.Searcher
	log       *follow.Log
	Tables    rows.PastTables
	patience  time.Duration
}

// Version is the version of the tables. It changes with their columns.
const Version = 1

// Checkpoint is the name under which the projection keeps its checkpoints.
const Checkpoint = "past_1"

// foldName names how events are folded into rows. It changes with [domain.Knowledge.Evolve], and the projection is
// then computed anew. past/1 was wrong about superseded, forgotten and restored items. past/2 dropped the earlier
// reports when a confirmation had an end. past/3 did not weigh votes.
const foldName = "past/4"

// maxWait is how long a question about the past waits for the projection.
const maxWait = 2 * time.Second

// Open finds the projection in a migrated database, or creates it. The projection starts anew if its fold or
// tokenizer differs from this release's, or if a table lacks a column.
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

// makeAgain drops the tables and creates them again, empty.
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

// BeginAnew empties a tenant's tables and lets the projection read the log again from its beginning, in the
// background. Meanwhile questions about the tenant's past wait, and are refused after a while. Other questions are
// not affected.
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

// clear deletes everything that the projection has stored, with its checkpoints.
func (p *Projection) clear(ctx context.Context, tx bun.IDB) error {
	for _, table := range []bun.Ident{"checkpoints", "quarantine"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE projection = ?", table, p.Name()); err != nil {
			return err
		}
	}
	for _, table := range p.Tables.All() {
		// TRUNCATE would show empty tables to a reader whose snapshot is older.
		if _, err := tx.ExecContext(ctx, "DELETE FROM ?", table); err != nil {
			return err
		}
	}
	return nil
}

// Status is the state of the projection.
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
