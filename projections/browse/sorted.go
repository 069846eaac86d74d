package browse

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

var _ sql.Scanner = (*sortValue)(nil)

// sorted reads a page of a sorted list of the newest items. It sorts all of them, and reads their keys only where these
// differ from that of a new item.
func sorted(ctx context.Context, p view, list domain.List, limit, most int64) (page domain.ListPage, err error) {
	chosen, err := p.newest(ctx, list.By, list.Filter, most, words.SetsOfGroups)
	if err != nil {
		return page, err
	}
	keys, err := p.sortKeys(ctx, list, chosen, limit+1, most/fewCounted)
	if err != nil {
		return page, err
	}
	type place struct{ key, number int64 }
	compare := func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number)) }
	order := func(a, b place) int { return compare(b, a) }
	if list.Ascending {
		order = compare
	}
	var places []place
	for number := range roaring.Values(chosen.Bitmap) {
		key, differs := keys[int64(number)]
		if !differs && list.Sort == domain.ByConfidence {
			key = ofNew * confidenceKeys
		} else if !differs && list.Sort == domain.ByUpdate {
			continue
		}
		if at := (place{key, int64(number)}); list.Before == 0 || order(at, place{list.Key, list.Before}) > 0 {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, order)
	if len(places) > int(limit) {
		places = places[:limit]
		page.Next, page.Key = places[limit-1].number, places[limit-1].key
	}
	numbers := make([]int64, len(places))
	for i, at := range places {
		numbers[i] = at.number
	}
	found, err := p.Read(ctx, p.Visible(p.Items().
		Where("k.tenant = ?", list.By.Tenant).Where("k.number IN (?)", bun.List(numbers)), list.By))
	if err != nil {
		return page, rows.Failed(ctx, "list knowledge", err)
	}
	items := map[int64]*domain.Knowledge{}
	for i := range found {
		if !found[i].Broken {
			items[found[i].Number] = p.Item(&found[i])
		}
	}
	page.Items = make([]*domain.Knowledge, 0, len(items))
	for _, number := range numbers {
		if k := items[number]; k != nil {
			page.Items = append(page.Items, k)
		}
	}
	return page, nil
}

// sortValue is a whole number. A time counts microseconds.
type sortValue int64

func (v *sortValue) Scan(value any) error {
	if n, isNumber := value.(int64); isNumber {
		*v = sortValue(n)
		return nil
	}
	var at database.Time
	err := at.Scan(value)
	*v = sortValue(at.UnixMicro())
	return err
}

// confidenceKeys is how many keys confidences have: whole numbers, since engines round fractions when they read them.
const confidenceKeys = 1_000_000_000

// fewCounted is of how many items that a list may have one is few: then it reads all times of updates.
const fewCounted = 20

// sortKeys are what items are sorted by now, where that differs from a new item's. Of many items, it reads the times of
// updates of the first ones.
func (p view) sortKeys(
	ctx context.Context, list domain.List, chosen words.Chosen, first, few int64,
) (map[int64]int64, error) {
	key := map[domain.Sort]string{
		domain.ByUpdate: "k.updated_at", domain.ByHarm: "k.harmful",
		domain.ByConfidence: "CAST(1000000000 * (" + rows.ConfidenceAt + ") AS bigint)",
		domain.ByStaleness:  "2 * " + rows.ReportersAt + " + CASE WHEN k.confirm_until <= ?0 THEN 1 ELSE 0 END",
	}[list.Sort]
	query := p.DB.NewSelect().ColumnExpr("k.number, ?", p.at(key)).Where("k.tenant = ?", list.By.Tenant)
	switch {
	case list.Sort != domain.ByUpdate:
		query = query.TableExpr("?", p.IndexHint("judged")).Where(rows.Judged)
	case int64(chosen.GetCardinality()) <= few:
		query = query.TableExpr("?", p.Listed(list.Filter)).Where("k.number IN (?)", bun.List(chosen.ToArray()))
	default:
		direction, after := " DESC", "<"
		if list.Ascending {
			direction, after = "", ">"
		}
		query = p.Visible(p.Where(query, list.By.Tenant, list.Filter), list.By).TableExpr("?", p.IndexHint("updated")).
			Where("k.number >= ?", chosen.Minimum()).
			OrderExpr("k.updated_at" + direction + ", k.number" + direction).Limit(first)
		if list.Before > 0 {
			query = query.Where("k.updated_at "+after+"= ?0 AND (k.updated_at "+after+" ?0 OR k.number "+after+" ?1)",
				database.At(time.UnixMicro(list.Key)), list.Before)
		}
	}
	keys := map[int64]int64{}
	err := database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
		var number int64
		var key sortValue
		err := rows.Scan(&number, &key)
		keys[number] = int64(key)
		return err
	}, query.String())
	if err != nil {
		return nil, rows.Failed(ctx, "sort knowledge", err)
	}
	return keys, nil
}
