package projections

import (
	"context"
	"runtime"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/text"
)

// Plan tells what a rebuild would take, and changes nothing.
func (r Rebuilds) Plan(ctx context.Context, name string) (domain.RebuildPlan, error) {
	if err := known(name); err != nil {
		return domain.RebuildPlan{}, err
	}
	p := r.knowledge
	all, err := p.versions(ctx)
	if err != nil {
		return domain.RebuildPlan{}, err
	}
	plan := domain.RebuildPlan{
		Projection: name, Active: all[0].Version, Version: all[0].Version + 1,
		Settings: map[string]string{"confidence": p.policy.Name, "tokenizer": text.TokenizerVersion},
	}
	for _, v := range all {
		plan.Version = max(plan.Version, v.Version+1)
	}
	plan.Intended = intended(
		version{entry: entry{Settings: all[0].Settings}}, version{entry: entry{Settings: plan.Settings}},
	)
	if plan.Streams, err = p.items(ctx); err != nil {
		return plan, err
	}
	if plan.Bytes, err = p.size(ctx); err != nil {
		return plan, err
	}
	plan.Need = plan.Bytes * needPercent(p.db.Engine) / 100
	if plan.Free, err = p.db.Free(ctx); err != nil {
		return plan, err
	}
	return plan, r.sample(ctx, &plan)
}

// needPercent is how much disk a rebuild takes at its most, of what it leaves. PostgreSQL writes
// everything to its journal, too, and sorts for the indexes. SQLite builds all indexes in one
// transaction, which lies in its journal until the end.
func needPercent(engine database.Engine) int64 {
	if engine == database.SQLite {
		return 160
	}
	return 200
}

// fits refuses a rebuild that the disk has no room for.
func (p *Knowledge) fits(ctx context.Context) error {
	free, err := p.db.Free(ctx)
	if err != nil || free == 0 {
		return err
	}
	size, err := p.size(ctx)
	if need := size * needPercent(p.db.Engine) / 100; err == nil && need > free {
		const mega = 1 << 20
		return domain.Refuse(domain.ErrConflict, "a rebuild needs about %d MB of disk, and %d MB are free", need/mega, free/mega).
			WithFix("make room, or retire the version that was active before")
	}
	return err
}

// items counts the items of all tenants.
func (p *Knowledge) items(ctx context.Context) (n int64, err error) {
	err = p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).ColumnExpr("count(*)").Scan(ctx, &n)
	if err != nil {
		return 0, p.failed(ctx, "count items", err)
	}
	return n, nil
}

// size is how many bytes the active version takes with its indexes.
func (p *Knowledge) size(ctx context.Context) (bytes int64, err error) {
	measure := `
		SELECT coalesce(sum(pg_total_relation_size(oid)), 0)
		FROM pg_class
		WHERE relname IN (?0, ?1, ?2, ?3, ?4) AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ?0::regclass)`
	if p.db.Engine == database.SQLite {
		measure = `
			SELECT coalesce(sum(pgsize), 0)
			FROM sqlite_schema AS s
			JOIN dbstat AS d ON d.name = s.name AND d.aggregate = 1
			WHERE s.tbl_name IN (?0, ?1, ?2, ?3, ?4)`
	}
	t := p.tables()
	err = p.db.NewRaw(measure, string(t.knowledge), string(t.scopes), string(t.terms), string(t.votes), string(t.reports)).Scan(ctx, &bytes)
	if err != nil {
		return 0, p.failed(ctx, "measure the active version", err)
	}
	return bytes, nil
}

// sampled is how many streams are folded for an estimate.
const sampled = 500

// sample counts the events, and estimates the time from how long it takes to fold some streams.
func (r Rebuilds) sample(ctx context.Context, plan *domain.RebuildPlan) error {
	tenants, err := r.log.Tenants(ctx)
	if err != nil {
		return err
	}
	var took time.Duration
	var streams int64
	for _, tenant := range tenants {
		head, _, err := r.log.Head(ctx, tenant)
		if err != nil {
			return err
		}
		plan.Events += head
		if streams >= sampled {
			continue
		}
		slice, found, err := r.log.NextSlice(ctx, tenant, domain.KnowledgeStream(""), "", sampled)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		began := time.Now()
		if err := r.draw(ctx, slice, head); err != nil {
			return err
		}
		took += time.Since(began)
		streams += int64(slice.Streams)
	}
	if streams > 0 {
		each := float64(took) / float64(streams)
		plan.Took = time.Duration(each * float64(plan.Streams) * (1 + writingPerFolding/float64(runtime.GOMAXPROCS(0))))
	}
	return nil
}

// writingPerFolding is how much longer everything else takes than folding does, by one processor.
const writingPerFolding = 12

// draw folds a slice and keeps nothing.
func (r Rebuilds) draw(ctx context.Context, slice events.Slice, upTo int64) error {
	var drawn image
	for f, err := range foldStreams(r.log.InSlice(ctx, slice, upTo), r.knowledge.policy) {
		if err != nil {
			return err
		}
		if err := drawn.add(slice.Tenant, f.item); err != nil {
			return err
		}
	}
	return nil
}
