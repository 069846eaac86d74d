package projections

import (
	"context"
	"fmt"
	"runtime"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// sliceStreams is how many streams are folded and written in one transaction: what a worker holds in
// memory, and how long SQLite's writer is busy.
const sliceStreams = 2000

// sliceRow is a range of streams that a rebuild loads.
type sliceRow struct {
	bun.BaseModel `bun:"table:rebuild_slices,alias:r"`

	Projection string        `bun:"projection"`
	Version    int           `bun:"version"`
	Tenant     string        `bun:"tenant"`
	After      string        `bun:"after"`
	Through    string        `bun:"through"`
	Streams    int64         `bun:"streams"`
	Events     int64         `bun:"events,nullzero"`
	LoadedAt   database.Time `bun:"loaded_at"`
}

// load folds every tenant's streams, in parallel, writes one final row per item, and builds the indexes
// last. Slices that an interrupted rebuild has loaded are not loaded again.
func (r *Rebuilder) load(ctx context.Context, now *run) error {
	p, v := r.knowledge, now.version
	var known []sliceRow
	err := p.db.NewSelect().Model(&known).Where("projection = ?", knowledgeName).Where("version = ?", v.Version).
		OrderExpr("tenant, after").Scan(ctx)
	if err != nil {
		return p.failed(ctx, "read the slices", err)
	}
	if err := r.count(ctx, now); err != nil {
		return err
	}
	work, loading := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	through := map[string]string{}
	for _, s := range known {
		through[s.Tenant] = max(through[s.Tenant], s.Through)
		if !s.LoadedAt.IsZero() {
			now.resume(s)
			continue
		}
		work.Go(func() error { return r.loadSlice(loading, now, s) })
	}
	tenants, err := r.log.Tenants(loading)
	for _, tenant := range tenants {
		if err == nil {
			err = r.dispatch(loading, now, tenant, through[tenant], work)
		}
	}
	if waitErr := work.Wait(); waitErr != nil {
		return waitErr
	}
	if err != nil {
		return err
	}
	return r.index(ctx, v)
}

// count finds out how much there is to do.
func (r *Rebuilder) count(ctx context.Context, now *run) error {
	var total int64
	err := r.knowledge.db.NewRaw("SELECT count(*) FROM ?", r.knowledge.tables().knowledge).Scan(ctx, &total)
	if err != nil {
		return r.knowledge.failed(ctx, "count items", err)
	}
	now.note(func(p *domain.RebuildProgress) { p.Total = total })
	return nil
}

// dispatch cuts the rest of a tenant's streams into slices. Each is noted before it is loaded, so that
// after a crash the same ranges are loaded, whatever was remembered meanwhile.
func (r *Rebuilder) dispatch(ctx context.Context, now *run, tenant, after string, work *errgroup.Group) error {
	for {
		next, found, err := r.log.NextSlice(ctx, tenant, domain.KnowledgeStream(""), after, sliceStreams)
		if err != nil || !found {
			return err
		}
		s := sliceRow{
			Projection: knowledgeName, Version: now.version.Version, Tenant: tenant,
			After: next.After, Through: next.Through, Streams: int64(next.Streams),
		}
		err = r.knowledge.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewInsert().Model(&s).Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
		after = next.Through
		work.Go(func() error { return r.loadSlice(ctx, now, s) })
	}
}

func (r *Rebuilder) loadSlice(ctx context.Context, now *run, s sliceRow) error {
	p, v := r.knowledge, now.version
	upTo, _, _, err := r.log.Checkpoint(ctx, v.checkpoint(), s.Tenant)
	if err != nil {
		return err
	}
	slice := events.Slice{Tenant: s.Tenant, After: s.After, Through: s.Through}
	var drawn image
	for f, err := range foldStreams(r.log.InSlice(ctx, slice, upTo), v.policy) {
		if err != nil {
			return err
		}
		if err := drawn.add(s.Tenant, f.item); err != nil {
			return err
		}
		s.Events += int64(f.events)
	}
	s.LoadedAt = database.At(p.now())
	err = p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := copyInto(ctx, p.db.Engine, tx, v.tables, &drawn); err != nil {
			return err
		}
		_, err := tx.NewUpdate().Model(&s).Column("events", "loaded_at").
			Where("projection = ?", s.Projection).Where("version = ?", s.Version).
			Where("tenant = ?", s.Tenant).Where("after = ?", s.After).Exec(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("slice after %q of tenant %s: %w", s.After, s.Tenant, err)
	}
	now.note(func(p *domain.RebuildProgress) { p.Streams += s.Streams; p.Events += s.Events })
	return nil
}

// index builds what a bulk load would only have slowed, and lets the planner know the tables.
func (r *Rebuilder) index(ctx context.Context, v version) error {
	p := r.knowledge
	indexes, err := definition(p.db.Engine, knowledgeName+"_indexes", v.Version)
	if err != nil {
		return err
	}
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if p.db.Engine == database.Postgres {
			indexes = "SET LOCAL maintenance_work_mem = '512MB';\n" + indexes
			for _, table := range []bun.Ident{v.tables.knowledge, v.tables.scopes, v.tables.terms, v.tables.votes, v.tables.reports} {
				indexes += "ANALYZE " + string(table) + ";\n"
			}
		}
		if _, err := tx.ExecContext(ctx, indexes); err != nil {
			return fmt.Errorf("build indexes: %w", err)
		}
		return p.advance(ctx, tx, v, stateBuilding, stateCatching)
	})
}
