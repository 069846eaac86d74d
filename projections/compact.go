package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
)

const (
	// defaultBagRows is how many bags a tenant keeps: what a search over everything reads at most
	// besides the index of terms.
	defaultBagRows = 4000
	// defaultCompactItems is how many items are moved in one transaction, during which appends wait.
	defaultCompactItems = 150
)

// Compact moves the words of each tenant's older items from bags into the index of terms, and says
// whether there is more to move. A write thus costs a row per scope, and the many rows of an index come
// later, in order, and only for tenants that have much.
func (p *Knowledge) Compact(ctx context.Context, log *events.Log) (more bool, err error) {
	if err := p.refresh(ctx); err != nil {
		return false, err
	}
	for _, v := range p.lineup.Load().versions {
		if v.foreign {
			continue // another release compacts it
		}
		var tenants []string
		err := p.db.NewSelect().TableExpr("?", v.tables.scopes).Column("tenant").Where("bag IS NOT NULL").
			GroupExpr("tenant").Having("count(*) > ?", p.bagRows).Scan(ctx, &tenants)
		if err != nil {
			return more, p.failed(ctx, "count bags", err)
		}
		for _, tenant := range tenants {
			more = true
			if err := p.compact(ctx, log, v, tenant); err != nil {
				return more, fmt.Errorf("compact words: %w", err)
			}
		}
	}
	return more, nil
}

// compact moves a tenant's oldest bags, under its lock.
func (p *Knowledge) compact(ctx context.Context, log *events.Log, v version, tenant string) error {
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := log.Hold(ctx, tx, tenant); err != nil {
			return err
		}
		oldest := tx.NewSelect().Distinct().TableExpr("?", v.tables.scopes).Column("number").
			Where("tenant = ?", tenant).Where("bag IS NOT NULL").OrderExpr("number").Limit(int64(p.compactItems))
		var rows []row
		err := tx.NewSelect().Model(&rows).ModelTableExpr("? AS k", v.tables.knowledge).
			Where("tenant = ?", tenant).Where("number IN (?)", oldest).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		var numbers []int64
		var terms []termRow
		for i := range rows {
			k := rows[i].knowledge()
			numbers = append(numbers, k.Number)
			terms = appendTerms(terms, k, bagOf(k))
		}
		script := &script{engine: p.db.Engine}
		script.add(tx.NewUpdate().TableExpr("?", v.tables.scopes).Set("bag = NULL").
			Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)))
		insertTerms(script, v.tables, tenant, terms)
		return script.run(ctx, tx)
	})
}

// CompactAll compacts whenever there is something to compact, until ctx ends. It takes a third of the
// time at most, so that appends find the lock free, and less while there are many.
func (p *Knowledge) CompactAll(ctx context.Context, log *events.Log) {
	const idle = 2 * time.Second
	for pause := idle; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		more, err := p.Compact(ctx, log)
		if err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "words were not compacted; it is tried again", "error", database.Classify(ctx, err))
		}
		if pause = idle; more && err == nil {
			pause = 2 * time.Since(began)
			log.GiveWay(ctx, time.Since(began))
		}
	}
}
