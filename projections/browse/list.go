package browse

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
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

const DefaultLimit = 20

// List reads items that the principal may see and that pass the filter, newest first. The work is
// bounded by the page: each of the caller's scopes is read in order until the page is full.
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
	if list.Filter.Visibility == domain.PublicWide {
		list.Filter.Scope = cmp.Or(list.Filter.Scope, domain.Public) // every public item has it
	}
	if list.Sort != "" {
		return sorted(ctx, p, list, limit, b.MostCounted)
	}
	few, err := p.fewBegin(ctx, list)
	if err != nil {
		return domain.ListPage{}, err
	}
	numbers := p.numbers(list, limit+1, few)
	found, err := p.Read(ctx, p.Items().
		Where("k.tenant = ?", list.By.Tenant).Where("k.number IN (?)", numbers).
		OrderExpr("k.number DESC").Limit(limit+1))
	if err != nil {
		return domain.ListPage{}, rows.Failed(ctx, "list knowledge", err)
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

// numbers selects the numbers of a page's items. For a principal that sees everything these are the newest of the
// tenant, otherwise the newest of each of its scopes and owners. With few, the index of URIs finds them.
func (p view) numbers(list domain.List, limit int64, few bool) *bun.SelectQuery {
	filter := list.Filter
	newest := func(query *bun.SelectQuery, number string) *bun.SelectQuery {
		query = p.Where(query, list.By.Tenant, filter)
		if list.Before > 0 {
			query = query.Where(number+" < ?", list.Before)
		}
		return query.ColumnExpr(number).OrderExpr(number + " DESC").Limit(limit)
	}
	all := func() *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("?", p.listed(filter))
	}
	if few {
		return newest(p.Visible(p.DB.NewSelect().TableExpr("?", p.IndexHint("uri")).
			Where("k."+rows.Live), list.By), "k.number")
	}
	if sharesAll(list) {
		filter.Scope = "" // sharedWith narrows to it
		return newest(p.sharedWith(list, list.Filter.Scope), "a.number")
	}
	if list.By.SeesAll() {
		return newest(all(), "k.number")
	}
	owned := func(owner any) *bun.SelectQuery { return newest(all().Where("k.owner = ?", owner), "k.number") }
	reaching := func(scope any) *bun.SelectQuery { return newest(p.sharedWith(list, scope), "a.number") }
	return rows.EachOf(p.DB, p.DB.Engine, list.By.Entities(), owned).
		Union(rows.EachOf(p.DB, p.DB.Engine, rows.ScopesOf(list.By), reaching))
}

// mostBegun is the limit below which fewBegin counts items as few: a page may read all of them.
const mostBegun = 5000

// fewBegin tells whether few items have the URI prefix that a list filters by, so that SQLite should find them by it.
// PostgreSQL's planner knows by itself.
func (p view) fewBegin(ctx context.Context, list domain.List) (few bool, err error) {
	prefix := list.Filter.URIPrefix
	if prefix == "" || rows.IncludesDeleted(list.Filter.Statuses) || p.IsPostgres() {
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

// listed is the table that a list is read from.
func (p view) listed(f domain.Filter) bun.Safe {
	if index, _ := rows.SelectiveIndex(f); index != "" && f.Owner == "" { // whose items have an index of their own
		return p.IndexHint(index)
	}
	return bun.Safe(string(p.Tables.Knowledge) + " AS k")
}

// sharesAll tells whether to read a list from the rows of one scope, whose items the principal may all see. A filter
// with an index of its own uses that instead, because a scope may be much larger.
func sharesAll(list domain.List) bool {
	f := list.Filter
	if index, _ := rows.SelectiveIndex(f); index != "" || f.Owner != "" {
		return false
	}
	return f.Scope != "" && !rows.IncludesDeleted(f.Statuses) &&
		(list.By.SeesAll() || slices.Contains(rows.ScopesOf(list.By), f.Scope))
}

// sharedWith selects a scope's items in the order of their numbers. It reads no other items.
func (p view) sharedWith(list domain.List, scope any) *bun.SelectQuery {
	return p.DB.NewSelect().TableExpr("? AS a", p.Tables.Scopes).
		Join("JOIN ? AS k ON k.tenant = a.tenant AND k.number = a.number", p.Tables.Knowledge).
		Where("a.tenant = ?", list.By.Tenant).Where("a.scope = ?", scope)
}
