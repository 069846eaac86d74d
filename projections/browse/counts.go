package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	mostCounted = 100_000 // items of a count, or of a sorted list, so that its time is bounded
	mostScopes  = 100     // with counts of their own
	lately      = 7 * 24 * time.Hour
)

// counted is what a count reads of an item.
type counted struct {
	kind, category, status, owner, scopes, tags string

	confidence                                    float64
	stale, expired, contested, confirmed, helpful bool
	unused                                        bool
}

// Count counts the items that the principal may see and that pass the filter.
func (b *Browser) Count(ctx context.Context, by domain.Principal, filter domain.Filter) (domain.Counts, error) {
	p, err := b.view(ctx)
	if err != nil {
		return domain.Counts{}, err
	}
	out := domain.Counts{Since: p.Now().Add(-lately).UTC().Truncate(24 * time.Hour)}
	wanted := filter.Statuses
	filter.Reader = &by
	if len(wanted) == 0 {
		wanted = []domain.Status{domain.Active}
	}
	filter.Statuses = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(wanted),
		domain.Active, domain.IsSuperseded))))
	recorded, err := recordsUse(ctx, p, by)
	if err != nil {
		return out, err
	}
	most := b.MostCounted
	found, err := countedItems(p, domain.List{By: by, Filter: filter}, most+1, out.Since, recorded).Rows(ctx)
	if err != nil {
		return out, rows.Failed(ctx, "count knowledge", err)
	}
	defer found.Close()
	t := tally{}
	for read := int64(0); found.Next(); read++ {
		if read == most {
			return t.counts(out, recorded), nil
		}
		var k counted
		if err := found.Scan(&k.kind, &k.category, &k.status, &k.owner, &k.scopes, &k.tags, &k.confidence, &k.stale,
			&k.expired, &k.contested, &k.confirmed, &k.helpful, &k.unused); err != nil {
			return out, rows.Failed(ctx, "count knowledge", err)
		}
		t.add(k, slices.Contains(wanted, domain.Status(k.status)))
	}
	out.Complete = true
	if err := found.Err(); err != nil {
		return out, rows.Failed(ctx, "count knowledge", err)
	}
	return t.counts(out, recorded), nil
}

// recordsUse tells whether accesses to items are recorded, and whether the principal may know of those of others.
func recordsUse(ctx context.Context, p view, by domain.Principal) (recorded bool, err error) {
	if !by.SeesAll() {
		return false, nil
	}
	err = p.DB.NewSelect().ColumnExpr("EXISTS (?)", p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("1").
		Where("a.tenant = ?", by.Tenant).Where("a.item <> ''")).Scan(ctx, &recorded)
	if err != nil {
		return false, rows.Failed(ctx, "read accesses", err)
	}
	return recorded, nil
}

// countedItems selects what is counted, the newest items first.
func countedItems(p view, list domain.List, limit int64, since time.Time, recorded bool) *bun.SelectQuery {
	now := database.At(p.Now())
	helpful := p.DB.NewSelect().TableExpr("? AS v", p.Tables.Votes).ColumnExpr("1").
		Where("v.tenant = k.tenant").Where("v.id = k.id").Where("v.verdict = 'helpful'")
	unused := p.DB.NewSelect().ColumnExpr("FALSE")
	if recorded {
		unused = p.DB.NewSelect().ColumnExpr("NOT EXISTS (?) AND NOT EXISTS (?)", helpful.Clone(),
			p.DB.NewSelect().TableExpr("accesses AS a").ColumnExpr("1").Where("a.tenant = k.tenant").
				Where("a.item = k.id").Where("a.item <> ''").Where("a.kind IN ('search', 'get')"))
	}
	return newest(p, list, limit).
		ColumnExpr("k.type, k.category, k.status, k.owner, k.scopes, k.tags").
		ColumnExpr(rows.ConfidenceAt, now).
		ColumnExpr("k.stale_reporters > 0 OR coalesce(k.confirm_until <= ?, FALSE)", now).
		ColumnExpr("coalesce(k.confirm_until <= ?, FALSE)", now).
		ColumnExpr("?", p.Contested(list.By.Tenant, list.Filter.Reader)).
		ColumnExpr("k.confirmed_at IS NOT NULL").
		ColumnExpr("k.version > 1 AND EXISTS (?)", helpful.Where("v.at >= ?", database.At(since))).
		ColumnExpr("(?)", unused)
}

// newest selects from the newest items k of a list.
func newest(p view, list domain.List, limit int64) *bun.SelectQuery {
	query := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge)
	if list.By.SeesAll() && list.Filter.Scope == "" { // without looking up each item by its number
		query = p.Where(p.DB.NewSelect().TableExpr("?", p.listed(list.Filter)), list.By.Tenant, list.Filter)
	} else {
		query = query.Where("k.tenant = ?", list.By.Tenant).Where("k.number IN (?)", p.numbers(list, limit, false))
	}
	return query.OrderExpr("k.number DESC").Limit(limit)
}

// tally counts items one by one. Scopes and tags are counted as they are stored, since many items have the same.
type tally struct {
	items                                       int
	kinds, categories, statuses, owners, tagged map[string]int
	scopes                                      map[string]*domain.ScopeCounts
	tenths                                      [10]int
	stale, expired, contested, confirmed        int
	helpful, unused                             int
}

func (t *tally) add(k counted, wanted bool) {
	count(&t.statuses, k.status)
	if !wanted {
		return
	}
	t.items++
	count(&t.kinds, k.kind)
	count(&t.categories, k.category)
	count(&t.owners, k.owner)
	count(&t.tagged, k.tags)
	t.tenths[min(max(int(k.confidence*10), 0), 9)]++
	if t.scopes == nil {
		t.scopes = map[string]*domain.ScopeCounts{}
	}
	of := t.scopes[k.scopes]
	if of == nil {
		of = &domain.ScopeCounts{}
		t.scopes[k.scopes] = of
	}
	of.Items++
	of.Confidence += k.confidence
	for _, flag := range []struct {
		is             bool
		inAll, inScope *int
	}{
		{k.stale, &t.stale, &of.Stale},
		{k.contested, &t.contested, &of.Contested},
		{k.confirmed && !k.stale, &t.confirmed, &of.Confirmed},
		{k.unused, &t.unused, &of.Unused},
		{k.expired, &t.expired, nil},
		{k.helpful, &t.helpful, nil},
	} {
		if !flag.is {
			continue
		}
		*flag.inAll++
		if flag.inScope != nil {
			*flag.inScope++
		}
	}
}

func count(counts *map[string]int, value string) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[value]++
}

func (t *tally) counts(out domain.Counts, recorded bool) domain.Counts {
	out.Items = t.items
	out.Types, out.Statuses = domain.FacetOf(t.kinds), domain.FacetOf(t.statuses)
	out.Categories = domain.FacetOf(t.categories)
	out.Owners = domain.FacetOf(t.owners)
	out.Scopes, out.ByScope = t.byScope()
	out.Tags = domain.FacetOf(unpacked(t.tagged, func(t domain.Tags) []string { return t.Pairs(":") }))
	out.Confidence, out.Stale, out.Expired, out.Contested = t.tenths, t.stale, t.expired, t.contested
	out.Confirmed, out.Helpful = t.confirmed, t.helpful
	if recorded {
		out.Unused = &t.unused
	}
	return out
}

// byScope counts by each scope of the items.
func (t *tally) byScope() (f domain.Facet, list []domain.ScopeCounts) {
	items, of := map[string]int{}, map[string]*domain.ScopeCounts{}
	for text, part := range t.scopes {
		for scope := range unpacked(map[string]int{text: 1}, func(list []string) []string { return list }) {
			items[scope] += part.Items
			all := of[scope]
			if all == nil {
				all = &domain.ScopeCounts{Scope: scope}
				of[scope] = all
			}
			all.Items, all.Stale, all.Contested = all.Items+part.Items, all.Stale+part.Stale, all.Contested+part.Contested
			all.Confirmed, all.Unused = all.Confirmed+part.Confirmed, all.Unused+part.Unused
			all.Confidence += part.Confidence
		}
	}
	for _, one := range of {
		one.Confidence /= float64(one.Items)
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b domain.ScopeCounts) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return domain.FacetOf(items), list[:min(len(list), mostScopes)]
}

// unpacked counts the values that are packed in JSON. What cannot be read counts as none.
func unpacked[T any](packed map[string]int, values func(T) []string) map[string]int {
	counts := map[string]int{}
	for text, n := range packed {
		var list T
		if json.Unmarshal([]byte(text), &list) != nil {
			continue
		}
		for _, value := range values(list) {
			counts[value] += n
		}
	}
	return counts
}
