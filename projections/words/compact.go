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
	// defaultPackedRows is how many packed rows a tenant keeps: what a search over everything reads at most
	// besides the index of terms. A packed row is read whole, for the few terms of a question that it may have.
	defaultPackedRows = 300
	// defaultCompactItems is how many packed rows are moved in one transaction, during which appends wait. Most
	// of its time goes to pages of the index that a third of them would change as well.
	defaultCompactItems = 300
	// defaultCompactIdle is how long the log must have been idle before more are moved together.
	defaultCompactIdle = 2 * time.Second
)

// backlog is what a tenant's packed rows are known to need: how many are too many, and up to which number they
// were moved. Both save looking at every packed row again for each few that are moved.
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
	items   int   // that are moved together, while they are crowded and the log is idle
	after   int64 // the number that was moved last; what was revised since lies before it, and waits for the next round
}

// Compactor moves the words of older items from packed rows into the index of terms: few at a time while there are
// appends, and a large backlog as a group, see groupMove.
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

// Compact moves the words of each tenant's older items from packed rows into the index of terms, and returns
// whether there is more to move. A write thus costs a row per scope, and the many rows of an index come
// later, in order, and only for tenants that have much.
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

// writesVersion tells whether a version's words are this process's to move: it is written, and by this release.
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
			return rows.Failed(ctx, "count bags", err)
		}
		for _, f := range found {
			p.backlog.tenants[backlogKey{v.Version, f.Tenant}] = &backlogEntry{surplus: f.Bags - p.PackedRows}
		}
	}
	return nil
}

// mostUnindexed is how far packed rows are counted for the status: so many are slow anyway.
const mostUnindexed = 100_000

// Unindexed is how many packed rows of a tenant wait to be moved.
func (p *Compactor) Unindexed(ctx context.Context, t rows.Tables, tenant string) (bags int64, err error) {
	some := p.DB.NewSelect().TableExpr("?", packedIndexHint(p.DB.Engine, t, "b")).ColumnExpr("1").
		Where("tenant = ?", tenant).Where("bag IS NOT NULL").Limit(mostUnindexed + int64(p.PackedRows))
	if err := p.DB.NewSelect().TableExpr("(?) AS some_bags", some).ColumnExpr("count(*)").Scan(ctx, &bags); err != nil {
		return 0, rows.Failed(ctx, "count bags", err)
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
		if !p.isOverfull(left) { // few enough to be put in order; many are read in order
			bags = packedIndexHint(p.DB.Engine, t, "b")
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

// overfull is how many times the packed rows that a tenant keeps are so many that every search over everything is slow
// by them, as after a large import.
const overfull = 10

// isOverfull tells whether they are that many.
func (p *Compactor) isOverfull(left *backlogEntry) bool { return left.surplus > overfull*p.PackedRows }

// batchOf is how many items are moved in one transaction. A page of the index is changed once for however many, so that
// ten times as many cost three times as much; but an append waits for all of them.
func (p *Compactor) batchOf(left *backlogEntry, idle time.Duration) int {
	if idle < p.Idle || !p.isOverfull(left) {
		left.items = 0
	}
	return max(left.items, p.BatchRows)
}

// pace lets more items be moved together next time, or fewer, by how long so many took.
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

// CompactPause is how long appends find the lock free after some packed rows were moved: twice as long as that took,
// and a quarter where they are crowded and the log has been idle.
func (p *Compactor) CompactPause(took, idle time.Duration) time.Duration {
	p.backlog.mu.Lock()
	defer p.backlog.mu.Unlock()
	for _, left := range p.backlog.tenants {
		if idle >= p.Idle && p.isOverfull(left) {
			return took / 4
		}
	}
	return 2 * took
}

// CompactAll compacts whenever there is something to compact, until ctx ends. It takes a third of the
// time at most, unless packed rows are crowded and the log is idle, and less while there are many appends.
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
			p.Log.WarnContext(ctx, "words were not compacted; it is tried again", "error", database.Classify(ctx, err))
		}
		if pause = idle; more && err == nil {
			pause = p.CompactPause(time.Since(began), log.Background().Idle())
			log.Background().Yield(ctx, "", time.Since(began), background.LongestPause)
		}
	}
}
