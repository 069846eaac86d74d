package browse

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// Browser answers questions about items that are not searched for: lists, trees, lineage and reports. It is safe for
// concurrent use.
type Browser struct {
	catalogue   *catalogue.Catalogue
	Gathered    Gathering
	MostCounted int64                           // items that a count or a sorted list reads: the newest
	Past        atomic.Pointer[rows.PastTables] // owners and scopes of the past; nil without a past
}

func New(c *catalogue.Catalogue) *Browser {
	return &Browser{
		catalogue: c, Gathered: Gathering{gatheredBelow, gatheredSeen, gatheredBytes}, MostCounted: mostCounted,
	}
}

// view is what one request reads.
type view struct {
	catalogue.View
	gathered Gathering
	past     *rows.PastTables
}

func (b *Browser) view(ctx context.Context) (view, error) {
	v, err := b.catalogue.View(ctx)
	return view{View: v, gathered: b.Gathered, past: b.Past.Load()}, err
}

// at is an expression about the present, at the time ?0 and of the votes ?1.
func (p view) at(expression string) schema.QueryWithArgs {
	if !strings.Contains(expression, "?") {
		return bun.SafeQuery(expression)
	}
	return bun.SafeQuery(expression, database.At(p.Now()), p.Tables.Votes)
}

const DefaultLimit = 20

// List reads items that the principal may see and that pass the filter, newest first.
func (b *Browser) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	p, err := b.view(ctx)
	if err != nil {
		return domain.ListPage{}, err
	}
	if list.Filter.Reader = &list.By; !list.AsOfTime.IsZero() {
		p.View = p.At(list.AsOfTime)
	}
	limit := int64(list.Limit)
	if limit == 0 {
		limit = DefaultLimit
	}
	if list.Sort != "" {
		return sorted(ctx, p, list, limit, b.MostCounted)
	}
	few, err := p.fewBegin(ctx, list)
	if err != nil {
		return domain.ListPage{}, err
	}
	found, err := p.page(ctx, list, int(limit)+1, few)
	if err != nil {
		return domain.ListPage{}, err
	}
	page := domain.ListPage{Items: make([]*domain.Knowledge, 0, min(len(found), int(limit)))}
	for i := range found[:min(len(found), int(limit))] {
		if !found[i].Broken {
			page.Items = append(page.Items, p.Item(&found[i]))
		}
	}
	if len(found) > int(limit) {
		page.Next = found[limit-1].Number
	}
	return page, nil
}

// page reads the rows of a page, the newest first. With few, the index of URIs finds them. The rows of an
// administrator's list without sets, and of a list whose items are named or have an index of their own, are read so. Of
// others, sets tell which rows to read.
func (p view) page(ctx context.Context, list domain.List, limit int, few bool) (page []rows.Row, err error) {
	f := list.Filter
	read := func(query *bun.SelectQuery) error {
		query = p.Visible(p.Where(query, list.By.Tenant, f), list.By)
		order := "k.number DESC"
		if len(f.IDs) > 0 {
			order = "+k.number DESC" // an engine that reads all items in this order does not look the few up
		}
		found, err := p.Read(ctx, query.OrderExpr(order).Limit(int64(limit-len(page))))
		if page = append(page, found...); err != nil {
			return rows.Failed(ctx, "list knowledge", err)
		}
		return nil
	}
	plain := f
	plain.NoArchives, plain.PrivateOf = false, nil
	groups := words.GroupsOf(plain)
	if index, _ := rows.SelectiveIndex(f); few || index != "" || len(f.IDs) > 0 || list.By.SeesAll() && len(groups) == 1 {
		query := p.Items().ModelTableExpr("?", p.Listed(f))
		if few {
			query = query.ModelTableExpr("?", p.IndexHint("uri")).Where("k." + rows.Live)
		}
		if list.Before > 0 {
			query = query.Where("k.number < ?", list.Before)
		}
		return page, read(query)
	}
	chosen, err := p.chosen(ctx, list.By, f, words.SetsOfGroups)
	if err != nil {
		return nil, err
	}
	if list.Before > 0 {
		chosen.RemoveRange(uint64(list.Before), 1<<32)
	}
	numbers := chosen.ToArray()
	for some := limit; len(page) < limit && len(numbers) > 0 && err == nil; some = min(4*some, mostRead) {
		rest := max(0, len(numbers)-some)
		err = read(p.Items().Where("k.number IN (?)", bun.List(numbers[rest:])))
		numbers = numbers[:rest]
	}
	return page, err
}

// mostRead is how many rows are checked at once.
const mostRead = 5000

var live = []domain.Status{domain.Active, domain.IsSuperseded}

// chosen are the items that pass a filter, as far as sets can tell, and that the principal may see.
func (p view) chosen(
	ctx context.Context, by domain.Principal, f domain.Filter, some words.Range,
) (words.Chosen, error) {
	groups := words.GroupsOf(f)
	c, err := words.Index{View: p.View}.Choose(ctx, by.Tenant, groups.SeenBy(by), some)
	if err != nil || rows.OnlyLive(f.Statuses) {
		return c, err
	}
	for index, condition := range map[string]string{"gone": rows.Gone, "withheld": rows.Withheld} {
		others := rows.Select(p.DB).ModelTableExpr("?", p.IndexHint(index)).Where("k." + condition)
		found, err := p.Read(ctx, p.Visible(p.Where(others, by.Tenant, f), by)) // no set has them
		if err != nil {
			return c, rows.Failed(ctx, "read what is gone or withheld", err)
		}
		for i := range found {
			c.Add(&found[i].Knowledge)
		}
	}
	return c, nil
}

// mostBegun is the limit below which fewBegin counts items as few: a page may read all of them.
const mostBegun = 5000

// fewBegin tells whether few items have the URI prefix that a list filters by, so that its index should find them.
func (p view) fewBegin(ctx context.Context, list domain.List) (few bool, err error) {
	prefix := list.Filter.URIPrefix
	if prefix == "" || !rows.OnlyLive(list.Filter.Statuses) {
		return false, nil
	}
	begun := p.DB.NewSelect().TableExpr("?", p.IndexHint("uri")).ColumnExpr("1").Where("k.tenant = ?", list.By.Tenant).
		Where("k."+rows.Live).
		Where("k.uri >= ?", prefix).Where("k.uri < ?", prefix+rows.LastCharacter).Limit(mostBegun)
	err = p.DB.NewSelect().TableExpr("(?) AS begun", begun).ColumnExpr("count(*) < ?", mostBegun).Scan(ctx, &few)
	if err != nil {
		return false, rows.Failed(ctx, "count what lies there", err)
	}
	return few, nil
}
