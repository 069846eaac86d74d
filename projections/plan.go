package projections

import (
	"context"
	"math"
	"runtime"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Plan tells what a rebuild would take, and changes nothing.
func (r Rebuilds) Plan(ctx context.Context, name string, order domain.RebuildOrder) (domain.RebuildPlan, error) {
	ctx = database.ForEveryTenant(ctx)
	if err := r.known(name); err != nil {
		return domain.RebuildPlan{}, err
	}
	p := r.knowledge
	all, err := p.versions(ctx)
	if err != nil {
		return domain.RebuildPlan{}, err
	}
	plan := domain.RebuildPlan{
		Projection: name, Active: all[0].Version, Version: all[0].Version + 1,
	}
	if plan.Settings, err = p.settingsFor(order, entry{Settings: all[0].Settings}); err != nil {
		return domain.RebuildPlan{}, err
	}
	for _, v := range all {
		plan.Version = max(plan.Version, v.Version+1)
	}
	plan.Intended = intended(
		p.versionOf(entry{Settings: all[0].Settings}), p.versionOf(entry{Settings: plan.Settings}),
	)
	if plan.Streams, err = p.items(ctx); err != nil {
		return plan, err
	}
	if plan.Free, err = p.db.Free(ctx); err != nil {
		return plan, err
	}
	return plan, r.sample(ctx, &plan)
}

// Parts of a hundred that a rebuild takes of disk at its most, of what it leaves. PostgreSQL writes
// everything to its journal, too, and sorts for the indexes. SQLite keeps the terms in sheaves until they
// are merged, and its journal begins anew again and again.
const (
	needPostgres  = 200
	needSQLite    = 120
	journalSQLite = 128 << 20 // bytes, and no more than is written
)

// need is how much disk a rebuild takes that leaves so many bytes.
func need(engine database.Engine, left int64) int64 {
	if engine == database.Postgres {
		return left * needPostgres / 100
	}
	written := left * needSQLite / 100
	return written + min(written, journalSQLite)
}

// Bytes of a row besides its values, in its table and in its indexes.
const (
	rowPostgres = 105
	rowSQLite   = 12
)

// fits refuses a rebuild that the disk has no room for. What else may be wrong with it, it finds out
// by itself.
func (r Rebuilds) fits(ctx context.Context, name string, order domain.RebuildOrder) error {
	if free, err := r.knowledge.db.Free(ctx); err != nil || free == nil {
		return err
	}
	plan, err := r.Plan(ctx, name, order)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return plan.Fits()
}

// items counts the items of all tenants.
func (p *Knowledge) items(ctx context.Context) (n int64, err error) {
	err = p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("count(*)").Scan(ctx, &n)
	if err != nil {
		return 0, p.failed(ctx, "count items", err)
	}
	return n, nil
}

// sampled is how many streams are folded for an estimate, so many at a time. How long they take is judged by the
// fastest: the others had to wait for the disk or for the processor.
const (
	sampled     = 500
	sampledOnce = 100
)

// sample counts the events, and estimates bytes and time from what some streams take. The active
// version's size would say less: the words of its newest items may not be indexed yet.
func (r Rebuilds) sample(ctx context.Context, plan *domain.RebuildPlan) error {
	tenants, err := r.log.Tenants(ctx)
	if err != nil {
		return err
	}
	each := time.Duration(math.MaxInt64)
	var streams, bytes int64
	for _, tenant := range tenants {
		head, _, err := r.log.Head(ctx, tenant)
		if err != nil {
			return err
		}
		loaded, err := r.log.Count(ctx, tenant, domain.KnowledgeStream(""))
		if err != nil {
			return err
		}
		plan.Events += loaded
		for after := ""; streams < sampled; {
			slice, found, err := r.log.NextSlice(ctx, tenant, domain.KnowledgeStream(""), after, sampledOnce)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			began := time.Now()
			drawn, err := r.draw(ctx, slice, head, r.knowledge.versionOf(entry{Settings: plan.Settings}))
			if err != nil {
				return err
			}
			each = min(each, time.Since(began)/time.Duration(slice.Streams))
			after = slice.Through
			streams += int64(slice.Streams)
			bytes += drawn.bytes(r.knowledge.db.Engine)
		}
	}
	if streams == 0 {
		return nil
	}
	scale := float64(plan.Streams) / float64(streams)
	plan.Bytes = int64(float64(bytes) * scale)
	writing := float64(writingPostgres)
	if r.knowledge.db.Engine == database.SQLite {
		writing = writingSQLite
	}
	plan.Need = need(r.knowledge.db.Engine, plan.Bytes)
	plan.Took = time.Duration(float64(plan.Streams) * float64(each) * (1 + writing/float64(runtime.GOMAXPROCS(0))))
	return nil
}

// How much longer everything else takes than folding does, by one processor.
const (
	writingPostgres = 14
	writingSQLite   = 8
)

// draw folds a slice and writes nothing.
func (r Rebuilds) draw(ctx context.Context, slice events.Slice, upTo int64, v version) (*image, error) {
	drawn := &image{}
	for f, err := range foldStreams(r.log.InSlice(ctx, slice, upTo), v.policy) {
		if err != nil {
			return nil, err
		}
		if err := drawn.add(slice.Tenant, f.item, bagOf(v.tokenizer, f.item)); err != nil {
			return nil, err
		}
	}
	return drawn, nil
}

// bytes is about how many an image takes in the database, with its indexes.
func (i *image) bytes(engine database.Engine) (total int64) {
	each := rowPostgres
	if engine == database.SQLite {
		each = rowSQLite
	}
	for _, table := range [][][]any{i.knowledge, i.scopes, i.terms, i.votes, i.reports} {
		for _, row := range table {
			total += int64(len(lineOf(row)) + each)
		}
	}
	return total
}
