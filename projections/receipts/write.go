package receipts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// The bounds of a write.
const (
	mostOfPage  = 500     // receipts
	mostAtATime = 50      // pages in a transaction
	mostBytes   = 8 << 20 // of several pages in a transaction
)

// page is a row of receipt_pages.
type page struct {
	bun.BaseModel `bun:"table:receipt_pages,alias:p"`

	Tenant   string        `bun:"tenant"`
	Run      int64         `bun:"run"`
	First    int64         `bun:"first"`
	Last     int64         `bun:"last"`
	Receipts int64         `bun:"receipts"`
	From     database.Time `bun:"from_at"`
	To       database.Time `bun:"to_at"`
	Sealed   int64         `bun:"sealed,nullzero"`
	Keys     []byte        `bun:"keys"`
	Data     []byte        `bun:"data"`
	Texts    []byte        `bun:"texts,nullzero"`

	uses map[int64]use // by the numbers of items; only of a page that was not written yet
}

// use is how often an item was used, and when last.
type use struct {
	count int64
	last  time.Time
}

// pageOf is the page of some receipts of a run to one tenant, in the order of their numbers.
func pageOf(all []*Receipt) page {
	first, last := all[0], all[len(all)-1]
	p := page{
		Tenant: first.Tenant, Run: first.Run, First: first.Sequence, Last: last.Sequence, Receipts: int64(len(all)),
		From: database.At(first.At), To: database.At(last.At), Sealed: first.Sealed,
		Keys: encodeKeys(all), Data: encode(all), Texts: encodeQuestions(all), uses: map[int64]use{},
	}
	for _, r := range all {
		for _, item := range r.Items {
			if r.Kind == domain.GivenUse && !item.Cut {
				p.uses[item.Number] = use{p.uses[item.Number].count + 1, r.At}
			}
		}
	}
	return p
}

// receipts are the receipts of a page, with the questions that were not erased.
func (p *page) receipts() ([]*Receipt, error) {
	all, err := decode(p.Data)
	if err == nil {
		err = decodeQuestions(p.Texts, all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the page at %s: %w", idOf(p.Run, p.First), err)
	}
	for _, r := range all {
		r.Tenant, r.Run, r.Sealed = p.Tenant, p.Run, p.Sealed
	}
	return all, nil
}

// Flush writes what was given before. On a standby, [Receipts.Run] alone does: nobody waits for the primary.
func (r *Receipts) Flush(ctx context.Context) error {
	if r.away() {
		return nil
	}
	_, err := r.write(ctx)
	return err
}

// write writes what was given before, and tells whether there was something.
func (r *Receipts) write(ctx context.Context) (wrote bool, err error) {
	ctx = database.ForEveryTenant(ctx)
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	r.taken, r.given = append(r.taken, r.given...), nil
	r.mu.Unlock()
	if err := r.prepare(ctx); err != nil {
		return false, err
	}
	for len(r.ready) > 0 {
		some := firstOf(r.ready)
		if _, err := r.record(ctx, Batch{Run: some[0].Run, Pages: some}); err != nil {
			return wrote, err
		}
		written := int64(0)
		for _, p := range some {
			written += p.Receipts
		}
		wrote, r.ready = true, r.ready[len(some):]
		r.recorded.Add(float64(written))
		r.mu.Lock()
		r.waiting -= int(written)
		r.mu.Unlock()
	}
	return wrote, nil
}

// firstOf are the first pages, as many as are written at once.
func firstOf(ready []page) []page {
	n, bytes := 0, 0
	for n < min(len(ready), mostAtATime) {
		if bytes += len(ready[n].Data) + len(ready[n].Texts); n > 0 && bytes > mostBytes {
			break
		}
		n++
	}
	return ready[:n]
}

// prepare makes pages of what was taken.
func (r *Receipts) prepare(ctx context.Context) error {
	slices.SortStableFunc(r.taken, func(a, b *Receipt) int { return cmp.Compare(a.Tenant, b.Tenant) })
	for len(r.taken) > 0 {
		tenant := r.taken[0].Tenant
		n := slices.IndexFunc(r.taken, func(one *Receipt) bool { return one.Tenant != tenant })
		if n < 0 {
			n = len(r.taken)
		}
		some := r.taken[:min(n, mostOfPage)]
		if err := r.complete(ctx, tenant, some); err != nil {
			return err
		}
		r.ready, r.taken = append(r.ready, pageOf(some)), r.taken[len(some):]
	}
	return nil
}

// complete scrubs the questions of receipts of one tenant, and sets their positions and digests.
func (r *Receipts) complete(ctx context.Context, tenant string, some []*Receipt) error {
	head, _, err := r.log.Reader.Head(ctx, tenant)
	if err != nil {
		return err
	}
	wanted := map[revision]bool{}
	for _, one := range some {
		if one.AsOf == 0 {
			position := head
			if before, known := r.heads[tenant]; !known || before != head { // something was recorded meanwhile
				if position, err = r.log.Finder.PositionAt(ctx, tenant, one.At); err != nil {
					return err
				}
			}
			one.Position = max(one.Position, position)
		}
		for _, item := range one.Items {
			wanted[revision{tenant, item.Number, item.Version}] = true
		}
	}
	r.heads[tenant] = head
	known, err := r.histories.of(ctx, r.db, tenant, wanted)
	if err != nil {
		return err
	}
	for _, one := range some {
		if r.options.Scrub != nil && one.Question.Text != "" {
			if one.Question.Text, err = r.options.Scrub.Clean(ctx, tenant, one.Question.Text); err != nil {
				return err
			}
		}
		one.seal(func(item Item) history { return known[revision{tenant, item.Number, item.Version}] })
	}
	return nil
}

// seal sets the digests.
func (r *Receipt) seal(of func(Item) history) {
	r.Question.seal()
	for i := range r.Items {
		whole := of(r.Items[i])
		copy(r.Items[i].History[:], whole[:])
	}
	r.Answer = r.digest(of)
}

// save writes pages and their uses. A page that is there already was written by an attempt whose outcome was not known.
func (r *Receipts) save(ctx context.Context, some []page) error {
	return r.db.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
		uses := map[itemOf]use{}
		for i := range some {
			result, err := tx.NewInsert().Model(&some[i]).On("CONFLICT DO NOTHING").Exec(ctx)
			if err != nil {
				return fmt.Errorf("write receipts: %w", err)
			}
			if added, err := result.RowsAffected(); err != nil {
				return err
			} else if added == 0 {
				continue
			}
			for number, of := range some[i].uses {
				item := itemOf{some[i].Tenant, number}
				uses[item] = use{uses[item].count + of.count, of.last}
			}
		}
		return r.addUses(ctx, tx, uses)
	})
}

// itemOf is an item of a tenant.
type itemOf struct {
	tenant string
	number int64
}

func (r *Receipts) addUses(ctx context.Context, tx bun.Tx, uses map[itemOf]use) error {
	items := make([]itemOf, 0, len(uses))
	for item := range uses {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b itemOf) int { // several servers lock the rows in the same order
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.number, b.number))
	})
	newest := "greatest(u.used_at, excluded.used_at)"
	if r.db.Engine == database.SQLite {
		newest = "max(u.used_at, excluded.used_at)"
	}
	var add database.Script
	rows := make([][]any, len(items))
	for i, item := range items {
		rows[i] = []any{item.tenant, item.number, uses[item].count, database.At(uses[item].last)}
	}
	if len(rows) == 0 {
		return nil
	}
	add.Insert(r.db.Engine, "item_uses AS u (tenant, number, uses, used_at)", `
		ON CONFLICT (tenant, number) DO UPDATE
		SET uses = u.uses + excluded.uses, used_at = `+newest, rows)
	if err := add.Run(ctx, tx); err != nil {
		return fmt.Errorf("count uses: %w", err)
	}
	return nil
}
