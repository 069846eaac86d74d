package past

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
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
	log       *events.Log
	followers *follow.Followers
	Tables    rows.PastTables
	patience  time.Duration
	earlier   *Projection // what it has read is not read anew yet; nil if there is none
}

// foldName names how events are folded into rows. It changes with [domain.Knowledge.Evolve], and the projection is
// then computed anew. past/1 was wrong about superseded, forgotten and restored items. past/2 dropped the earlier
// reports when a confirmation had an end. past/3 did not weigh votes.
const foldName = "past/4"

// maxWait is how long a question about the past waits for the projection.
const maxWait = 2 * time.Second

// Open finds the projection in a migrated database, or creates it. If its fold, its tokenizer or the form of its tables
// differs from this release's, a version is begun beside it. The earlier one answers what that has not read yet.
func Open(
	ctx context.Context, p *catalogue.Catalogue, models *vectors.Models, browser *browse.Browser,
	searcher *search.Searcher, log *events.Log, followers *follow.Followers,
) (*Projection, error) {
	settings := map[string]string{"fold": foldName, "tokenizer": p.Tokenizers[0].Version}
	var past *Projection
	err := p.DB.TransactHere(ctx, func(ctx context.Context, tx bun.Tx) error {
		past = nil
		if err := catalogue.LockCatalogue(ctx, p.DB.Engine, tx); err != nil {
			return err
		}
		there, err := database.ReadLayout(ctx, tx, p.DB.Engine)
		if err != nil {
			return err
		}
		var known []catalogue.Entry
		err = tx.NewSelect().Model(&known).Where("name = ?", catalogue.PastName).OrderExpr("version DESC").Scan(ctx)
		if err != nil {
			return err
		}
		for _, e := range known {
			made, err := rows.Definition(p.DB.Engine, catalogue.PastName, e.Version)
			if err != nil {
				return err
			}
			t, differs, lost := rows.PastTablesOf(e.Version).InForm(made, there)
			found := &Projection{
				catalogue: p, models: models, browser: browser, searcher: searcher, log: log, followers: followers,
				Tables: t, patience: maxWait,
			}
			fold := e.Settings["fold"]
			switch {
			case len(fold) > len(foldName) || len(fold) == len(foldName) && fold > foldName:
				return domain.Refuse(domain.ErrUnreadable, "a later release computed the past (%s), and this annals knows %s",
					fold, foldName).WithFix("start that release")
			case past == nil && !differs && maps.Equal(e.Settings, settings):
				past = found
				continue
			case past == nil:
				past, err = found.create(ctx, tx, e.Version+1, settings)
			}
			if err == nil {
				err = past.keep(ctx, tx, found, lost)
			}
			if err != nil {
				return err
			}
		}
		if past == nil {
			past, err = (&Projection{
				catalogue: p, models: models, browser: browser, searcher: searcher, log: log, followers: followers,
				patience: maxWait,
			}).create(ctx, tx, 1, settings)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the past: %w", err)
	}
	return past, nil
}

// create creates a version beside this one.
func (p *Projection) create(
	ctx context.Context, tx bun.Tx, version int, settings map[string]string,
) (*Projection, error) {
	beside, now := *p, database.At(p.catalogue.Now())
	beside.Tables, beside.earlier = rows.PastTablesOf(version), nil
	made, err := rows.Definition(p.catalogue.DB.Engine, catalogue.PastName, version)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE projections SET state = ? WHERE name = ? AND state = ?", catalogue.StateStandby,
		catalogue.PastName, catalogue.StateActive)
	if err != nil {
		return nil, err
	}
	if _, err = tx.ExecContext(ctx, made); err != nil {
		return nil, err
	}
	_, err = tx.NewInsert().Model(&catalogue.Entry{
		Name: catalogue.PastName, Version: version, State: catalogue.StateActive, Settings: settings, CreatedAt: now,
		UpdatedAt: now,
	}).Exec(ctx)
	return &beside, err
}

// keep keeps an earlier version as long as this one has read less of any log. Then it drops it.
func (p *Projection) keep(ctx context.Context, tx bun.Tx, earlier *Projection, lost bool) error {
	var behind bool
	err := tx.NewRaw(`
		SELECT EXISTS (
			SELECT 1
			FROM checkpoints AS e
			LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = e.tenant
			WHERE e.projection = ? AND coalesce(c.position, 0) < e.position)`, p.Name(), earlier.Name()).Scan(ctx, &behind)
	if err != nil {
		return err
	}
	if behind && !lost && p.earlier == nil {
		p.earlier = earlier
		return nil
	}
	if p.catalogue.DB.Standby() { // a process on the primary drops it
		return nil
	}
	for _, table := range earlier.Tables.All() {
		if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS ?", table); err != nil {
			return err
		}
	}
	for _, table := range []bun.Ident{"checkpoints", "quarantine"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE projection = ?", table, earlier.Name()); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM projections WHERE name = ? AND version = ?", catalogue.PastName,
		earlier.Tables.Version)
	return err
}

// reaching is the version that has read a position: the earlier one, if this one has not.
func (p *Projection) reaching(ctx context.Context, tenant string, position int64) (*Projection, error) {
	if p.earlier == nil {
		return p, nil
	}
	read, err := p.read(ctx, p.catalogue.DB, tenant)
	if err != nil || read >= position {
		return p, err
	}
	if read, err = p.earlier.read(ctx, p.catalogue.DB, tenant); err != nil || read < position {
		return p, err
	}
	return p.earlier, nil
}

// Name is the name under which the projection keeps its checkpoints.
func (p *Projection) Name() string { return fmt.Sprintf("%s_%d", catalogue.PastName, p.Tables.Version) }

// Follow lets the projection follow the log as a handler of the router.
func (p *Projection) Follow(router *message.Router) {
	follow.AddPreparer(router, p.followers, p.Name(), p.Prepare)
}

// BeginAnew empties a tenant's tables and lets the projection read the log again from its beginning, in the
// background. Meanwhile questions about the tenant's past wait, and are refused after a while. Other questions are
// not affected.
func (p *Projection) BeginAnew(ctx context.Context, tenant string) error {
	return p.followers.Reset(ctx, p.Name(), tenant, func(ctx context.Context, tx bun.IDB) error {
		for _, table := range p.Tables.All() {
			if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE tenant = ?", table, tenant); err != nil {
				return fmt.Errorf("clear the past: %w", err)
			}
		}
		return nil
	})
}

// Status is the state of the projection.
func (p *Projection) Status(
	ctx context.Context, followers *follow.Followers, tenant string, head int64,
) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{
		Name: catalogue.PastName, Version: p.Tables.Version, State: catalogue.StateActive, Head: head,
	}
	var e catalogue.Entry
	err := p.catalogue.DB.NewSelect().Model(&e).Where("name = ?", catalogue.PastName).
		Where("version = ?", p.Tables.Version).Scan(ctx)
	if err != nil {
		return s, rows.Failed(ctx, "read the catalogue", err)
	}
	s.Settings, s.CreatedAt, s.UpdatedAt = e.Settings, e.CreatedAt.Time, e.UpdatedAt.Time
	f, err := followers.SubscriptionStatus(ctx, p.Name(), tenant)
	return f.Describe(s), err
}
