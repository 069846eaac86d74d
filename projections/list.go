package projections

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

const defaultList = 20

// List reads items that the principal may see and that pass the filter, newest first. The work is
// bounded by the page: each of the caller's scopes is read in order until the page is full.
func (p *Knowledge) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	if err := p.refresh(ctx); err != nil {
		return domain.ListPage{}, err
	}
	p = p.pinned()
	limit := int64(list.Limit)
	if limit == 0 {
		limit = defaultList
	}
	if list.Filter.Visibility == domain.PublicWide {
		list.Filter.Scope = cmp.Or(list.Filter.Scope, domain.Public) // which all of these have
	}
	few, err := p.fewBegin(ctx, list)
	if err != nil {
		return domain.ListPage{}, err
	}
	numbers := p.numbers(list, limit+1, few)
	rows, err := p.readRows(ctx, p.db.NewSelect().Model((*row)(nil)).ModelTableExpr("? AS k", p.tables().knowledge).
		Where("k.tenant = ?", list.By.Tenant).Where("k.number IN (?)", numbers).
		OrderExpr("k.number DESC").Limit(limit+1))
	if err != nil {
		return domain.ListPage{}, p.failed(ctx, "list knowledge", err)
	}
	page := domain.ListPage{Items: make([]*domain.Knowledge, 0, min(len(rows), int(limit)))}
	for i := range rows[:min(len(rows), int(limit))] {
		if !rows[i].broken {
			page.Items = append(page.Items, p.item(&rows[i]))
		}
	}
	if len(rows) > int(limit) {
		page.Next = rows[limit-1].Number
	}
	return page, nil
}

// numbers selects the numbers of a page's items: everything, or the newest of each audience that
// the principal belongs to, and of what each of its entities owns. Where few have a URI that begins as the filter asks, the newest of
// those.
func (p *Knowledge) numbers(list domain.List, limit int64, few bool) *bun.SelectQuery {
	filter := list.Filter
	newest := func(query *bun.SelectQuery, number string) *bun.SelectQuery {
		query = p.where(query, list.By.Tenant, filter)
		if list.Before > 0 {
			query = query.Where(number+" < ?", list.Before)
		}
		return query.ColumnExpr(number).OrderExpr(number + " DESC").Limit(limit)
	}
	all := func() *bun.SelectQuery {
		return p.db.NewSelect().TableExpr("?", p.listed(filter))
	}
	if few {
		return newest(p.visible(p.db.NewSelect().TableExpr("?", p.indexHint("uri")).Where("k."+isLive), list.By), "k.number")
	}
	if sharesAll(list) {
		filter.Scope = "" // is where it is read from
		return newest(p.sharedWith(list, list.Filter.Scope), "a.number")
	}
	if list.By.SeesAll() {
		return newest(all(), "k.number")
	}
	union := p.db.NewSelect()
	for i, part := range p.audience(list, newest, all) {
		if i == 0 {
			union = p.db.NewSelect().ColumnExpr("number").TableExpr("(?) AS part", part)
			continue
		}
		union = union.Union(p.db.NewSelect().ColumnExpr("number").TableExpr("(?) AS part", part))
	}
	return union
}

// mostBegun is up to how many items are few: so many are read for a page of them.
const mostBegun = 5000

// fewBegin tells whether few items have a URI that begins as the filter of a list asks, so that they are found by that. PostgreSQL
// knows it by itself.
func (p *Knowledge) fewBegin(ctx context.Context, list domain.List) (few bool, err error) {
	prefix := list.Filter.URIPrefix
	if prefix == "" || withGone(list.Filter.Statuses) || p.isPostgres() {
		return false, nil
	}
	begun := p.db.NewSelect().TableExpr("?", p.indexHint("uri")).ColumnExpr("1").Where("k.tenant = ?", list.By.Tenant).Where("k."+isLive).
		Where("k.uri >= ?", prefix).Where("k.uri < ?", prefix+last).Limit(mostBegun)
	err = p.db.NewSelect().TableExpr("(?) AS begun", begun).ColumnExpr("count(*) < ?", mostBegun).Scan(ctx, &few)
	if err != nil {
		return false, p.failed(ctx, "count what lies there", err)
	}
	return few, nil
}

// listed is the table that a list is read from.
func (p *Knowledge) listed(f domain.Filter) bun.Safe {
	if index, _ := selectiveIndex(f); index != "" && f.Owner == "" { // whose items have an index of their own
		return p.indexHint(index)
	}
	return bun.Safe(string(p.tables().knowledge) + " AS k")
}

func (p *Knowledge) audience(list domain.List, newest func(*bun.SelectQuery, string) *bun.SelectQuery, all func() *bun.SelectQuery) []*bun.SelectQuery {
	var parts []*bun.SelectQuery
	for _, entity := range list.By.Entities() {
		parts = append(parts, newest(all().Where("k.owner = ?", entity), "k.number"))
	}
	for _, scope := range scopesOf(list.By) {
		parts = append(parts, newest(p.sharedWith(list, scope), "a.number"))
	}
	return parts
}

// scopesOf are those whose items a principal may see, whoever owns them.
func scopesOf(by domain.Principal) []domain.Scope {
	scopes := []domain.Scope{domain.Public}
	for _, entity := range by.Entities() {
		scopes = append(scopes, entity.Scope())
	}
	return scopes
}

// sharesAll tells whether a list is of a scope whose items the principal may all see, and which has a row for each. What
// has an index of its own is read by that: a scope may have many more items.
func sharesAll(list domain.List) bool {
	f := list.Filter
	if index, _ := selectiveIndex(f); index != "" || f.Owner != "" {
		return false
	}
	return f.Scope != "" && !withGone(f.Statuses) && (list.By.SeesAll() || slices.Contains(scopesOf(list.By), f.Scope))
}

// sharedWith is a scope's items, in the order of their numbers: however few there are, no other item is read.
func (p *Knowledge) sharedWith(list domain.List, scope domain.Scope) *bun.SelectQuery {
	return p.db.NewSelect().TableExpr("? AS a", p.tables().scopes).
		Join("JOIN ? AS k ON k.tenant = a.tenant AND k.number = a.number", p.tables().knowledge).
		Where("a.tenant = ?", list.By.Tenant).Where("a.scope = ?", scope)
}
