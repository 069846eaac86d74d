package projections

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
	"github.com/annals-kb/annals/events"
)

// Past is the background projection that answers what was known at a position of the log: what every
// item was, who could see it and how it had proved itself. Texts it reads from the log, where erasing
// destroys them. It is safe for concurrent use.
type Past struct {
	knowledge *Knowledge
	log       *events.Log
	tables    pastTables
	patience  time.Duration
}

const pastName = "past"

// pastVersion is the version of its tables: other columns are another version.
const pastVersion = 1

// pastFold names how events are folded into rows, and changes with what [domain.Knowledge.Evolve] makes of them. With
// another one everything is computed anew. By past/1 what was superseded, forgotten and restored held again; by past/2 a confirmation with an end took
// away the reports before it.
const pastFold = "past/3"

// pastPatience is how long a question waits for the projection to have read what it asks about.
const pastPatience = 2 * time.Second

// pastTables names the tables of one version.
type pastTables struct {
	items, scopes, counts, words, pieces bun.Ident
	owners                               bun.Ident // an index of items
}

func pastTablesOf(version int) pastTables {
	name := fmt.Sprintf("%s_%d", pastName, version)
	return pastTables{
		items: bun.Ident(name), scopes: bun.Ident(name + "_scopes"), counts: bun.Ident(name + "_counts"),
		words: bun.Ident(name + "_words"), pieces: bun.Ident(name + "_pieces"),
		owners: bun.Ident(name + "_owner"),
	}
}

func (t pastTables) all() []bun.Ident {
	return []bun.Ident{t.items, t.scopes, t.counts, t.words, t.pieces}
}

// OpenPast finds the projection in a migrated database, or creates it. Where another release has written
// it with another fold or tokeniser, or where tables lack a column, it begins anew.
func OpenPast(ctx context.Context, p *Knowledge, log *events.Log) (*Past, error) {
	past := &Past{knowledge: p, log: log, tables: pastTablesOf(pastVersion), patience: pastPatience}
	settings := map[string]string{"fold": pastFold, "tokenizer": p.tokenizers[0].Version}
	now := database.At(p.now())
	made, err := definition(p.db.Engine, pastName, pastVersion)
	if err != nil {
		return nil, err
	}
	lacking, err := p.db.MissingColumns(ctx, made)
	if err != nil {
		return nil, err
	}
	err = p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockCatalogue(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		var known []entry
		err := tx.NewSelect().Model(&known).Where("name = ?", pastName).Where("version = ?", pastVersion).Scan(ctx)
		switch {
		case err != nil:
			return err
		case len(known) == 0:
			return past.create(ctx, tx, made, entry{
				Name: pastName, Version: pastVersion, State: stateActive, Settings: settings, CreatedAt: now, UpdatedAt: now,
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
	p.past.Store(&past.tables)
	return past, nil
}

func (p *Past) create(ctx context.Context, tx bun.Tx, made string, e entry) error {
	if _, err := tx.ExecContext(ctx, made); err != nil {
		return err
	}
	_, err := tx.NewInsert().Model(&e).Exec(ctx)
	return err
}

// makeAgain makes tables that lack a column anew, and empty.
func (p *Past) makeAgain(ctx context.Context, tx bun.Tx, made string) error {
	for _, table := range p.tables.all() {
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
func (p *Past) Name() string { return fmt.Sprintf("%s_%d", pastName, pastVersion) }

// Follow lets the projection follow the log as a handler of the router.
func (p *Past) Follow(router *message.Router) {
	events.AddPreparer(router, p.log, p.Name(), p.Prepare)
}

// BeginAnew lets the projection read a tenant's log again from its beginning, in the background, into empty
// tables. Questions about the tenant's past wait meanwhile, and are refused if it takes long; all others are
// not concerned.
func (p *Past) BeginAnew(ctx context.Context, tenant string) error {
	return p.log.Reset(ctx, p.Name(), tenant, func(ctx context.Context, tx bun.IDB) error {
		for _, table := range p.tables.all() {
			if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE tenant = ?", table, tenant); err != nil {
				return fmt.Errorf("clear the past: %w", err)
			}
		}
		return nil
	})
}

// clear deletes what the projection has read of every tenant, and that it did.
func (p *Past) clear(ctx context.Context, tx bun.IDB) error {
	for _, table := range []bun.Ident{"checkpoints", "quarantine"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE projection = ?", table, p.Name()); err != nil {
			return err
		}
	}
	for _, table := range p.tables.all() {
		// Not TRUNCATE: whoever reads at this moment would find nothing, and take it for the past.
		if _, err := tx.ExecContext(ctx, "DELETE FROM ?", table); err != nil {
			return err
		}
	}
	return nil
}

// Status is how far the projection has read.
func (p *Past) status(ctx context.Context, progress Progress, tenant string, head int64) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{Name: pastName, Version: pastVersion, State: stateActive, Head: head}
	var e entry
	err := p.knowledge.db.NewSelect().Model(&e).Where("name = ?", pastName).Where("version = ?", pastVersion).Scan(ctx)
	if err != nil {
		return s, p.knowledge.failed(ctx, "read the catalogue", err)
	}
	s.Settings, s.CreatedAt, s.UpdatedAt = e.Settings, e.CreatedAt.Time, e.UpdatedAt.Time
	f, err := progress.SubscriptionStatus(ctx, p.Name(), tenant)
	return f.Describe(s), err
}
