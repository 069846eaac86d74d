package words

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	groupBytes = 256 << 20 // of packed terms in memory at a time
	groupPage  = 2000      // items read at a time
	rangeRows  = 1 << 18   // rows of the index of terms sorted at a time
)

// Group is items of a tenant that are indexed together, in the order of the index. Indexed one by one, each would
// change pages all over the index.
type Group struct {
	Tenant string
	Items  []GroupItem
}

// GroupItem is an item with its terms.
type GroupItem struct {
	ID     string
	Number int64
	Scopes []domain.Scope
	Terms  ItemTerms
}

// ReadGroup reads the items after a number whose terms fit into memory.
func ReadGroup(
	ctx context.Context, db *database.DB, v catalogue.Version, tenant string, after int64,
) (Group, error) {
	group := Group{Tenant: tenant}
	for bytes := 0; bytes < groupBytes; {
		var page []rows.Row
		err := db.NewSelect().Model(&page).ModelTableExpr("? AS k", v.Tables.Knowledge).
			Column("id", "number", "content", "task", "tags", "scopes").Where("tenant = ?", tenant).Where(rows.Live).
			Where("number > ?", after).OrderExpr("number").Limit(groupPage).Scan(ctx)
		if err != nil {
			return group, rows.Failed(ctx, "read items to index", err)
		}
		if len(page) == 0 {
			return group, nil
		}
		items := make([]GroupItem, len(page))
		var cutting errgroup.Group
		for part := range runtime.GOMAXPROCS(0) {
			cutting.Go(func() error {
				for i := part; i < len(page); i += runtime.GOMAXPROCS(0) {
					k := page[i].Knowledge()
					items[i] = GroupItem{k.ID, k.Number, k.Scopes, ItemTermsOf(v.Tokenizer, k)}
				}
				return nil
			})
		}
		if err := cutting.Wait(); err != nil {
			return group, err
		}
		for _, item := range items {
			bytes += len(item.Terms.PackedTerms)
		}
		group.Items = append(group.Items, items...)
		after = items[len(items)-1].Number
	}
	return group, nil
}

// EachRange prepares the index rows of a group, sorted, one range of hashes after the other, and passes them to
// write. It prepares the next range while write runs.
func EachRange[T any](
	ctx context.Context, group Group, prepare func([]TermRow) T, write func(context.Context, T) error,
) error {
	total := 0
	for _, item := range group.Items {
		total += item.Terms.Len() * len(item.Scopes)
	}
	const hashes = 1 << 48
	step := uint64(hashes / (1 + total/rangeRows))
	prepared := make(chan T)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(prepared)
		for low := uint64(0); low < hashes; low += step {
			var list []TermRow
			for _, item := range group.Items {
				some := ItemTerms{Words: item.Terms.Words, PackedTerms: item.Terms.Between(low, low+step)}
				list = AppendTerms(list, item.Number, item.Scopes, some)
			}
			SortTerms(list)
			select {
			case prepared <- prepare(list):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	work.Go(func() error {
		for list := range prepared {
			if err := write(ctx, list); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}
