package browse

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

var _ sql.Scanner = (*sortValue)(nil)

// sorted reads a page of a sorted list. There is no index of the keys, so it reads the keys of the newest items.
func sorted(ctx context.Context, p view, list domain.List, limit, most int64) (page domain.ListPage, err error) {
	from, number := list.Key, list.Before
	list.Before = 0 // it is no lower bound of the numbers
	direction, after := " DESC", "<"
	if list.Ascending {
		direction, after = "", ">"
	}
	query := p.DB.NewSelect().ColumnExpr("number, sort_key").
		TableExpr("(?) AS newest", sortKey(p, list.Sort, newest(p, list, most).ColumnExpr("k.number"))).
		OrderExpr("sort_key" + direction + ", number" + direction).Limit(limit + 1)
	if number > 0 {
		var bound any = from
		if list.Sort == domain.ByUpdate {
			bound = database.At(time.UnixMicro(from))
		}
		query = query.Where("(sort_key "+after+" ?0 OR sort_key = ?0 AND number "+after+" ?1)", bound, number)
	}
	var keys []struct {
		Number int64     `bun:"number"`
		Key    sortValue `bun:"sort_key"`
	}
	if err := query.Scan(ctx, &keys); err != nil {
		return page, rows.Failed(ctx, "sort knowledge", err)
	}
	if len(keys) > int(limit) {
		keys = keys[:limit]
		page.Next, page.Key = keys[limit-1].Number, int64(keys[limit-1].Key)
	}
	numbers := make([]int64, len(keys))
	for i, key := range keys {
		numbers[i] = key.Number
	}
	found, err := p.Read(ctx, p.Items().
		Where("k.tenant = ?", list.By.Tenant).Where("k.number IN (?)", bun.List(numbers)))
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

// sortKey adds what the items k are sorted by now: a time or a whole number, since engines round fractions when they
// read them.
func sortKey(p view, by domain.Sort, query *bun.SelectQuery) *bun.SelectQuery {
	now := database.At(p.Now())
	switch by {
	case domain.ByUpdate:
		return query.ColumnExpr("k.updated_at AS sort_key")
	case domain.ByConfidence:
		return query.ColumnExpr("CAST(1000000000 * ("+rows.ConfidenceAt+") AS bigint) AS sort_key", now)
	case domain.ByHarm:
		return query.ColumnExpr("k.harmful AS sort_key")
	}
	return query.ColumnExpr("2 * "+rows.ReportersAt+
		" + CASE WHEN k.confirm_until <= ?0 THEN 1 ELSE 0 END AS sort_key", now)
}
