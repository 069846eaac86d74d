package words

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// defaultPackedRows is how many packed rows a tenant keeps. A search over everything reads that many besides the
	// index of terms, each of them whole.
	defaultPackedRows = 300
	// compactRows is how many packed rows one transaction moves. Appends wait for it, some tenths of a second.
	compactRows = 1000
	// compactInterval is the pause after such a transaction while commands run, and between two looks for packed rows.
	// It keeps up with 250 new items in two scopes per second.
	compactInterval = 2 * time.Second
	// compactPause is the pause if no command ran for compactInterval. It leaves most of the time to vectors.
	compactPause = 200 * time.Millisecond
)

// Compactor moves the terms of items from packed rows into the index of terms.
type Compactor struct {
	*catalogue.Catalogue
	PackedRows int
}

func NewCompactor(c *catalogue.Catalogue) *Compactor { return &Compactor{c, defaultPackedRows} }

// Compact moves packed rows that each tenant has beyond PackedRows into the index of terms, and returns whether there
// are more to move. A write therefore costs one row per scope. The many rows of the index are written later, sorted,
// and only for tenants with many items.
func (p *Compactor) Compact(ctx context.Context, log *events.Log) (more bool, err error) {
	if err := p.Refresh(ctx); err != nil {
		return false, err
	}
	for _, v := range p.VersionSet.Load().Versions {
		if v.Unsupported {
			continue
		}
		surplus, err := p.surplus(ctx, v.Tables)
		if err != nil {
			return false, err
		}
		for tenant, packed := range surplus {
			moved, err := p.compact(ctx, log, v, tenant, min(packed, compactRows))
			if err != nil {
				return false, fmt.Errorf("compact words: %w", err)
			}
			more = more || moved < packed
		}
	}
	return more, nil
}

// surplus is how many packed rows tenants have beyond PackedRows.
func (p *Compactor) surplus(ctx context.Context, t rows.Tables) (map[string]int, error) {
	var found []struct {
		Tenant string `bun:"tenant"`
		Packed int    `bun:"packed"`
	}
	err := p.DB.NewSelect().TableExpr("?", t.Scopes).ColumnExpr("tenant, count(*) AS packed").Where("bag IS NOT NULL").
		GroupExpr("tenant").Having("count(*) > ?", p.PackedRows).Scan(ctx, &found)
	if err != nil {
		return nil, rows.Failed(ctx, "count packed rows", err)
	}
	surplus := map[string]int{}
	for _, f := range found {
		surplus[f.Tenant] = f.Packed - p.PackedRows
	}
	return surplus, nil
}

// mostUnindexed limits how many packed rows are counted for the status.
const mostUnindexed = 100_000

// Unindexed is how many packed rows of a tenant wait to be moved.
func (p *Compactor) Unindexed(ctx context.Context, t rows.Tables, tenant string) (bags int64, err error) {
	some := p.DB.NewSelect().TableExpr("?", PackedIndexHint(p.DB.Engine, t, "b")).ColumnExpr("1").
		Where("tenant = ?", tenant).Where("bag IS NOT NULL").Limit(mostUnindexed + int64(p.PackedRows))
	if err := p.DB.NewSelect().TableExpr("(?) AS some_bags", some).ColumnExpr("count(*)").Scan(ctx, &bags); err != nil {
		return 0, rows.Failed(ctx, "count packed rows", err)
	}
	return max(0, bags-int64(p.PackedRows)), nil
}

// compact moves the items of at most this many of a tenant's packed rows, under its lock, and returns how many rows it
// moved.
func (p *Compactor) compact(
	ctx context.Context, log *events.Log, v catalogue.Version, tenant string, most int,
) (moved int, err error) {
	t := v.Tables
	err = p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := log.LockTenant(ctx, tx, tenant); err != nil {
			return err
		}
		var numbers []int64
		moved = 0
		err := tx.NewSelect().TableExpr("?", PackedIndexHint(p.DB.Engine, t, "b")).Column("number").
			Where("tenant = ?", tenant).Where("bag IS NOT NULL").OrderExpr("scope, number").Limit(int64(most)).
			Scan(ctx, &numbers)
		if err != nil || len(numbers) == 0 {
			return err
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		var list []rows.Row
		in := rows.Table{Engine: p.DB.Engine, Tenant: tenant, Table: t.Knowledge, Alias: "k"}
		if err := rows.LookUp(tx.NewSelect().Model(&list), in, rows.SingleKeys(numbers), "number").
			Scan(ctx); err != nil {
			return err
		}
		var terms []TermRow
		for i := range list {
			k := list[i].Knowledge()
			terms = AppendTerms(terms, k.Number, k.Scopes, ItemTermsOf(v.Tokenizer, k))
			moved += len(k.Scopes)
		}
		script := &rows.Script{Engine: p.DB.Engine}
		p.emptyPacked(script, t, tenant, numbers)
		InsertTerms(script, t, tenant, terms)
		return script.Execute(ctx, tx)
	})
	return moved, err
}

// emptyPacked adds the statement that drops the packed rows of items.
func (p *Compactor) emptyPacked(script *rows.Script, t rows.Tables, tenant string, numbers []int64) {
	table := bun.Safe(t.Scopes)
	if p.DB.Engine == database.SQLite { // it would scan every item of the tenant
		table += " INDEXED BY " + bun.Safe(t.Scopes) + "_number"
	}
	script.AddQuery(p.DB.NewUpdate().TableExpr("?", table).Set("bag = NULL").
		Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)))
}

// CompactAll compacts until ctx ends.
func (p *Compactor) CompactAll(ctx context.Context, log *events.Log) {
	for pause := compactInterval; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		more, err := p.Compact(ctx, log)
		log.Background().Yield(ctx, "", time.Since(began), background.LongestPause)
		if err != nil && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "words were not compacted and will be tried again", "error", database.Classify(ctx, err))
		}
		pause = compactInterval
		if more && log.Background().Idle() > compactInterval {
			pause = compactPause
		}
	}
}
