package rebuild

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

const (
	groupBytes  = 256 << 20 // of packed terms that are in memory at once
	rangeRows   = 1 << 18   // rows of the index of terms that are sorted at once
	indexedPage = 2000      // items that are read at once
)

// indexWords fills SQLite's index of terms, in the order of its key, when all items are loaded. Filled slice by slice,
// each transaction would change pages all over the index. An interrupted one begins anew: what is there is ignored.
func (r *Rebuilder) indexWords(ctx context.Context, now *run) error {
	tenants, err := r.Versions.tenants(ctx, now.version)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if err := r.indexTenant(ctx, now.version, tenant); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rebuilder) indexTenant(ctx context.Context, v catalogue.Version, tenant string) error {
	for after := int64(0); ; {
		group, err := readGroup(ctx, r.Versions.DB, v, tenant, after)
		if err != nil || len(group.items) == 0 {
			return err
		}
		err = r.writeGroup(ctx, v, group)
		switch {
		case err == nil:
			after = group.items[len(group.items)-1].number
		case !errors.Is(err, errErasedSince): // else the group is read again
			return err
		}
	}
}

// indexGroup is items of a tenant whose terms are indexed together.
type indexGroup struct {
	tenant string
	mark   int64 // how far erasures had come before the items were read
	items  []indexedItem
}

type indexedItem struct {
	number int64
	scopes []domain.Scope
	terms  words.ItemTerms
}

// readGroup reads the items after a number whose terms fit into memory.
func readGroup(
	ctx context.Context, db *database.DB, v catalogue.Version, tenant string, after int64,
) (group indexGroup, err error) {
	group.tenant = tenant
	if group.mark, err = events.Erasures(ctx, db, tenant); err != nil {
		return group, err
	}
	for bytes := 0; bytes < groupBytes; {
		var page []rows.Row
		err := db.NewSelect().Model(&page).ModelTableExpr("? AS k", v.Tables.Knowledge).
			Column("number", "content", "task", "tags", "scopes").Where("tenant = ?", tenant).Where(rows.Live).
			Where("number > ?", after).OrderExpr("number").Limit(indexedPage).Scan(ctx)
		if err != nil {
			return group, rows.Failed(ctx, "read items to index", err)
		}
		if len(page) == 0 {
			return group, nil
		}
		items := make([]indexedItem, len(page))
		var cutting errgroup.Group
		for part := range runtime.GOMAXPROCS(0) {
			cutting.Go(func() error {
				for i := part; i < len(page); i += runtime.GOMAXPROCS(0) {
					k := page[i].Knowledge()
					items[i] = indexedItem{k.Number, k.Scopes, words.ItemTermsOf(v.Tokenizer, k)}
				}
				return nil
			})
		}
		if err := cutting.Wait(); err != nil {
			return group, err
		}
		for _, item := range items {
			bytes += len(item.terms.PackedTerms)
		}
		group.items = append(group.items, items...)
		after = items[len(items)-1].number
	}
	return group, nil
}

// writeGroup writes the terms of a group, a range of hashes after the other. The next range is sorted meanwhile.
func (r *Rebuilder) writeGroup(ctx context.Context, v catalogue.Version, group indexGroup) error {
	total := 0
	for _, item := range group.items {
		total += item.terms.Len() * len(item.scopes)
	}
	const hashes = 1 << 48
	step := uint64(hashes / (1 + total/rangeRows))
	sorted := make(chan [][]any)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(sorted)
		for low := uint64(0); low < hashes; low += step {
			var list []words.TermRow
			for _, item := range group.items {
				some := words.ItemTerms{Words: item.terms.Words, PackedTerms: item.terms.Between(low, low+step)}
				list = words.AppendTerms(list, item.number, item.scopes, some)
			}
			words.SortTerms(list)
			select {
			case sorted <- words.TermValues(group.tenant, list):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	work.Go(func() error {
		for list := range sorted {
			for len(list) > 0 {
				some := list[:min(r.Batch.Rows(), len(list))]
				if err := r.writeTerms(ctx, v, group, some); err != nil {
					return err
				}
				list = list[len(some):]
			}
		}
		return nil
	})
	return work.Wait()
}

// writeTerms writes rows of the index of terms, unless the version is not being built any more. The error matches
// [errErasedSince] if a text was erased after the group was read.
func (r *Rebuilder) writeTerms(ctx context.Context, v catalogue.Version, group indexGroup, list [][]any) error {
	p := r.Versions
	script := &rows.Script{Engine: p.DB.Engine}
	script.InsertRows(v.Tables.Terms, rows.TermsColumns, list, "ON CONFLICT DO NOTHING")
	return r.Batch.Write(p.DB, len(list), func() (took time.Duration, err error) {
		var began time.Time
		err = p.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
			began = time.Now()
			state, err := p.state(ctx, tx, v)
			if err == nil && state != catalogue.StateBuilding {
				err = fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
			}
			if err != nil {
				return err
			}
			mark, err := events.ShareTexts(ctx, tx, group.tenant)
			if err == nil && mark != group.mark {
				err = errErasedSince
			}
			if err != nil {
				return err
			}
			return script.Execute(ctx, tx)
		})
		return time.Since(began), err
	})
}
