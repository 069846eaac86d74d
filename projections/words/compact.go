package words

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/background"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// defaultPackedRows is how many packed rows a tenant keeps. A search over everything reads that many besides the
	// index of terms, each of them whole.
	defaultPackedRows = 300
	// defaultCompactItems is how many items one transaction moves while appends wait. Most of its time goes to pages of
	// the index; a third of the items would change nearly as many.
	defaultCompactItems = 300
	// defaultCompactIdle is how long the log must have been idle before larger batches are moved.
	defaultCompactIdle = 2 * time.Second
)

// backlog is what is known of each tenant's surplus of packed rows, and how far they were moved. It saves counting
// and scanning all packed rows for each small batch.
type backlog struct {
	mu      sync.Mutex
	tenants map[backlogKey]*backlogEntry
}

type backlogKey struct {
	version int
	tenant  string
}

type backlogEntry struct {
	surplus int   // of packed rows
	items   int   // that are moved in one batch while the tenant is overfull and the log is idle
	after   int64 // the last number that was moved; items before it that were revised since wait for the next round
}

// Compactor moves the terms of older items from packed rows into the index of terms. It moves small batches while
// there are appends, and a large backlog as a group: see groupMove.
type Compactor struct {
	*catalogue.Catalogue
	backlog               backlog
	PackedRows, BatchRows int
	LargeBacklog          int
	Idle                  time.Duration
}

func NewCompactor(c *catalogue.Catalogue) *Compactor {
	return &Compactor{
		Catalogue: c, PackedRows: defaultPackedRows, BatchRows: defaultCompactItems,
		LargeBacklog: defaultLargeBacklog, Idle: defaultCompactIdle,
	}
}

// Compact moves the terms of each tenant's older items into the index of terms, and returns whether there is more to
// move. A write therefore costs one row per scope. The many rows of the index are written later, sorted, and only for
// tenants with many items.
func (p *Compactor) Compact(ctx context.Context, log *events.Log) (more bool, err error) {
	if err := p.Refresh(ctx); err != nil {
		return false, err
	}
	p.backlog.mu.Lock()
	defer p.backlog.mu.Unlock()
	if len(p.backlog.tenants) == 0 {
		if err := p.countPacked(ctx); err != nil {
			return false, err
		}
	}
	for place, left := range p.backlog.tenants {
		more = true
		if v, written := p.writesVersion(place.version); written {
			err = p.compact(ctx, log, v, place.tenant, left)
		} else {
			left.surplus = 0
		}
		if left.surplus <= 0 || err != nil {
			delete(p.backlog.tenants, place)
		}
		if err != nil {
			return more, fmt.Errorf("compact words: %w", err)
		}
	}
	return more, nil
}

// writesVersion tells whether this process moves a version's terms: appends write the version, and this release can.
func (p *Compactor) writesVersion(number int) (catalogue.Version, bool) {
	all := p.VersionSet.Load().Versions
	at := slices.IndexFunc(all, func(v catalogue.Version) bool { return v.Version == number && !v.Unsupported })
	if at < 0 {
		return catalogue.Version{}, false
	}
	return all[at], true
}

func (p *Compactor) countPacked(ctx context.Context) error {
	p.backlog.tenants = map[backlogKey]*backlogEntry{}
	for _, v := range p.VersionSet.Load().Versions {
		if v.Unsupported {
			continue
		}
		var found []struct {
			Tenant string `bun:"tenant"`
			Bags   int    `bun:"bags"`
		}
		err := p.DB.NewSelect().TableExpr("?", v.Tables.Scopes).ColumnExpr("tenant, count(*) AS bags").
			Where("bag IS NOT NULL").
			GroupExpr("tenant").Having("count(*) > ?", p.PackedRows).Scan(ctx, &found)
		if err != nil {
			return rows.Failed(ctx, "count packed rows", err)
		}
		for _, f := range found {
			p.backlog.tenants[backlogKey{v.Version, f.Tenant}] = &backlogEntry{surplus: f.Bags - p.PackedRows}
		}
	}
	return nil
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

// compact moves a tenant's oldest packed rows, under its lock.
func (p *Compactor) compact(
	ctx context.Context, log *events.Log, v catalogue.Version, tenant string, left *backlogEntry,
) error {
	t := v.Tables
	idle := log.Background().Idle()
	if left.surplus > p.LargeBacklog && idle >= p.Idle {
		left.surplus = 0 // count again
		return p.compactGroup(ctx, log, v, tenant)
	}
	items := p.batchOf(left, idle)
	var list []rows.Row
	var began time.Time
	err := p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := log.LockTenant(ctx, tx, tenant); err != nil {
			return err
		}
		began = time.Now()
		var oldest []int64
		bags := bun.Safe(t.Scopes)
		if !p.isOverfull(left) { // few enough to be sorted; many are read in order
			bags = PackedIndexHint(p.DB.Engine, t, "b")
		}
		err := tx.NewSelect().TableExpr("?", bags).Column("number").
			Where("tenant = ?", tenant).Where("number > ?", left.after).Where("bag IS NOT NULL").
			OrderExpr("number").Limit(int64(items)).Scan(ctx, &oldest)
		list = nil
		if err != nil || len(oldest) == 0 {
			return err
		}
		in := rows.Table{Engine: p.DB.Engine, Tenant: tenant, Table: t.Knowledge, Alias: "k"}
		if err := rows.LookUp(tx.NewSelect().Model(&list), in, rows.SingleKeys(slices.Compact(oldest)), "number").
			Scan(ctx); err != nil {
			return err
		}
		var numbers []int64
		var terms []TermRow
		for i := range list {
			k := list[i].Knowledge()
			numbers = append(numbers, k.Number)
			terms = AppendTerms(terms, k.Number, k.Scopes, ItemTermsOf(v.Tokenizer, k))
		}
		script := &rows.Script{Engine: p.DB.Engine}
		p.emptyPacked(script, t, tenant, numbers)
		InsertTerms(script, t, tenant, terms)
		return script.Execute(ctx, tx)
	})
	if err != nil || len(list) == 0 {
		left.surplus = 0 // count again
		return err
	}
	left.pace(items, time.Since(began))
	for i := range list {
		left.surplus -= len(list[i].Scopes)
		left.after = max(left.after, list[i].Number)
	}
	return nil
}

// overfull is how many times PackedRows a tenant may have before every search over everything is slow, as after a
// large import.
const overfull = 10

func (p *Compactor) isOverfull(left *backlogEntry) bool { return left.surplus > overfull*p.PackedRows }

// batchOf is how many items one transaction moves. A page of the index is changed once for all of them, so ten times
// the items take three times as long. But appends wait for that time.
func (p *Compactor) batchOf(left *backlogEntry, idle time.Duration) int {
	if idle < p.Idle || !p.isOverfull(left) {
		left.items = 0
	}
	return max(left.items, p.BatchRows)
}

// pace adapts the size of the next batch to how long this one took.
func (left *backlogEntry) pace(items int, took time.Duration) {
	const (
		longest = 2 * time.Second // that an append may wait
		most    = 5_000           // items, whose texts are in memory meanwhile
	)
	switch {
	case took > longest:
		left.items = items / 2
	case took < longest/2:
		left.items = min(2*items, most)
	}
}

// CompactPause is how long appends find the lock free after a batch: twice as long as the batch took. If a tenant is
// overfull and the log idle, it is a quarter of the batch's time. It is at most LongestPause: a group of items takes
// minutes, but yields to appends itself.
func (p *Compactor) CompactPause(took, idle time.Duration) time.Duration {
	p.backlog.mu.Lock()
	defer p.backlog.mu.Unlock()
	for _, left := range p.backlog.tenants {
		if idle >= p.Idle && p.isOverfull(left) {
			return min(took/4, background.LongestPause)
		}
	}
	return min(2*took, background.LongestPause)
}

// CompactAll compacts until ctx ends. It takes at most a third of the time, and less while there are many appends. It
// takes more if a tenant is overfull and the log is idle.
func (p *Compactor) CompactAll(ctx context.Context, log *events.Log) {
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
			p.Log.WarnContext(ctx, "words were not compacted and will be tried again", "error", database.Classify(ctx, err))
		}
		if pause = idle; more && err == nil {
			pause = p.CompactPause(time.Since(began), log.Background().Idle())
			log.Background().Yield(ctx, "", time.Since(began), background.LongestPause)
		}
	}
}
