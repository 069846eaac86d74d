package rebuild

import (
	"context"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Plan estimates a rebuild, and changes nothing.
func (r Rebuilds) Plan(ctx context.Context, name string, order domain.RebuildOrder) (domain.RebuildPlan, error) {
	ctx = database.ForEveryTenant(ctx)
	if err := r.known(name); err != nil {
		return domain.RebuildPlan{}, err
	}
	p := r.Versions
	all, err := p.Versions(ctx)
	if err != nil {
		return domain.RebuildPlan{}, err
	}
	plan := domain.RebuildPlan{
		Projection: name, Active: all[0].Version, Version: all[0].Version + 1,
	}
	if plan.Settings, err = settingsFor(p.Catalogue, order, catalogue.Entry{Settings: all[0].Settings}); err != nil {
		return domain.RebuildPlan{}, err
	}
	for _, v := range all {
		plan.Version = max(plan.Version, v.Version+1)
	}
	plan.Intended = intended(
		p.VersionOf(all[0].Entry), p.VersionOf(catalogue.Entry{Settings: plan.Settings}),
	)
	if plan.Free, err = database.FreeDiskSpace(ctx, p.DB); err != nil {
		return plan, err
	}
	return plan, r.estimate(ctx, &plan)
}

// The disk space that a rebuild needs at most, in percent of the size of its result. PostgreSQL also writes its WAL
// and sorts for indexes. SQLite splits pages of the index of words, and restarts its WAL again and again.
const (
	needPostgres  = 200
	needSQLite    = 120
	journalSQLite = 128 << 20 // bytes, and no more than is written
)

// need is the disk space of a rebuild whose result has left bytes.
func need(engine database.Engine, left int64) int64 {
	if engine == database.Postgres {
		return left * needPostgres / 100
	}
	written := left * needSQLite / 100
	return written + min(written, journalSQLite)
}

// fits returns an error if the disk has no room for a rebuild. It ignores other errors, which the rebuild itself
// returns.
func (r Rebuilds) fits(ctx context.Context, name string, order domain.RebuildOrder) error {
	if free, err := database.FreeDiskSpace(ctx, r.Versions.DB); err != nil || free == nil {
		return err
	}
	plan, err := r.Plan(ctx, name, order)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return plan.Fits()
}

// The size of an item and of each word in a new version, with indexes, measured with items of 30 and of 800 words.
// Then the time per row, with its verification, on two processors.
const (
	itemBytesPostgres, wordBytesPostgres = 1900, 50
	itemBytesSQLite, wordBytesSQLite     = 900, 30
	rowTook                              = 10 * time.Microsecond
)

// size counts the items of all tenants and their words.
func size(ctx context.Context, p *catalogue.Catalogue) (items, words int64, err error) {
	err = p.DB.NewSelect().TableExpr("? AS k", p.Active().Tables.Knowledge).
		ColumnExpr("count(*), coalesce(sum(words), 0)").
		Scan(ctx, &items, &words)
	if err != nil {
		return 0, 0, rows.Failed(ctx, "count items", err)
	}
	return items, words, nil
}

// estimate counts events and items, and estimates size and time from averages.
func (r Rebuilds) estimate(ctx context.Context, plan *domain.RebuildPlan) error {
	p := r.Versions
	items, words, err := size(ctx, p.Catalogue)
	if err != nil {
		return err
	}
	plan.Streams = items
	tenants, err := r.log.Reader.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		events, err := r.log.Reader.Count(ctx, tenant, domain.KnowledgeStream(""))
		if err != nil {
			return err
		}
		plan.Events += events
	}
	if p.DB.Engine == database.Postgres {
		plan.Bytes = plan.Streams*itemBytesPostgres + words*wordBytesPostgres
	} else {
		plan.Bytes = plan.Streams*itemBytesSQLite + words*wordBytesSQLite
	}
	plan.Need = need(p.DB.Engine, plan.Bytes)
	plan.Took = time.Duration(plan.Streams+words) * rowTook
	return nil
}
