package browse

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

const (
	mostCounted = 100_000 // items of a count, or of a sorted list, so that its time is bounded
	mostScopes  = 100     // with counts of their own
	lately      = 7 * 24 * time.Hour
)

// judged is what is known of items besides their sets. Few items were judged, so only these are read. The others have
// the confidence of a new item.
type judged struct {
	confidence                                          map[uint32]float64
	recorded                                            bool // uses are
	items                                               *roaring.Bitmap
	stale, expired, contested, confirmed, helpful, used *roaring.Bitmap
}

// ofNew is the confidence of a new item.
const ofNew = 0.5

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
	filter.Statuses = slices.Compact(slices.Sorted(slices.Values(slices.Concat(wanted, live))))
	recorded, err := recordsUse(ctx, p, by)
	if err != nil {
		return out, err
	}
	chosen, err := p.newest(ctx, by, filter, b.MostCounted+1, words.AllSets)
	if err != nil {
		return out, err
	}
	out.Complete = int64(chosen.GetCardinality()) <= b.MostCounted
	chosen.Keep(b.MostCounted)
	j, err := p.judge(ctx, by, out.Since, recorded)
	if err != nil {
		return out, err
	}
	statuses := chosen.Facet(rows.OfStatus)
	some := roaring.New()
	for _, status := range wanted {
		if items := statuses[words.SetOf(rows.OfStatus, status)]; items != nil {
			some.Or(items)
		}
	}
	chosen.Bitmap = some
	facets := []map[uint64]*roaring.Bitmap{statuses}
	for _, kind := range []uint64{rows.OfType, rows.OfCategory, rows.OfOwner, rows.OfTag, rows.OfScope} {
		facets = append(facets, chosen.Facet(kind))
	}
	names, err := p.names(ctx, by, facets)
	if err != nil {
		return out, err
	}
	for i, to := range []*domain.Facet{&out.Statuses, &out.Types, &out.Categories, &out.Owners, &out.Tags, &out.Scopes} {
		items := map[string]int{}
		for key, set := range facets[i] {
			if name, named := names[key]; named {
				items[name] += int(set.GetCardinality())
			}
		}
		*to = domain.FacetOf(items)
	}
	for key, set := range facets[len(facets)-1] {
		if name, named := names[key]; named {
			of := j.of(set)
			of.Scope = name
			out.ByScope = append(out.ByScope, of)
		}
	}
	slices.SortFunc(out.ByScope, func(a, b domain.ScopeCounts) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Scope, b.Scope))
	})
	out.ByScope = out.ByScope[:min(len(out.ByScope), mostScopes)]
	all := j.of(some)
	out.Items, out.Stale, out.Contested, out.Confirmed = all.Items, all.Stale, all.Contested, all.Confirmed
	out.Expired, out.Helpful = int(some.AndCardinality(j.expired)), int(some.AndCardinality(j.helpful))
	if recorded {
		out.Unused = &all.Unused
	}
	out.Confidence[5] = all.Items
	for number := range roaring.Values(roaring.And(some, j.items)) {
		out.Confidence[5]--
		out.Confidence[min(max(int(j.confidence[number]*10), 0), 9)]++
	}
	return out, nil
}

// recordsUse tells whether uses of items are recorded, and whether the principal may know of those of others.
func recordsUse(ctx context.Context, p view, by domain.Principal) (recorded bool, err error) {
	if !by.SeesAll() {
		return false, nil
	}
	err = p.DB.NewSelect().ColumnExpr("EXISTS (?)", p.usesOf(by.Tenant).ColumnExpr("1")).Scan(ctx, &recorded)
	if err != nil {
		return false, rows.Failed(ctx, "read uses", err)
	}
	return recorded, nil
}

// usesOf selects from the uses u of a tenant's items.
func (p view) usesOf(tenant string) *bun.SelectQuery {
	return p.DB.NewSelect().TableExpr("item_uses AS u").Where("u.tenant = ?", tenant)
}

// judge reads the items that were judged, whoever may see them.
func (p view) judge(ctx context.Context, by domain.Principal, since time.Time, recorded bool) (judged, error) {
	now := database.At(p.Now())
	helpful := p.DB.NewSelect().TableExpr("? AS v", p.Tables.Votes).ColumnExpr("1").
		Where("v.tenant = k.tenant").Where("v.id = k.id").Where("v.verdict = 'helpful'")
	of := func(from bun.Safe) *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("?", from).Where("k.tenant = ?", by.Tenant).ColumnExpr("k.number").
			ColumnExpr(rows.ConfidenceAt, now).
			ColumnExpr("k.stale_reporters > 0 OR coalesce(k.confirm_until <= ?, FALSE)", now).
			ColumnExpr("coalesce(k.confirm_until <= ?, FALSE)", now).
			ColumnExpr("?", p.Contested(by.Tenant, &by)).
			ColumnExpr("k.confirmed_at IS NOT NULL").
			ColumnExpr("k.version > 1 AND EXISTS (?)", helpful.Clone().Where("v.at >= ?", database.At(since))).
			ColumnExpr("k.version > 1 AND EXISTS (?)", helpful.Clone())
	}
	disputed := p.DB.NewSelect().TableExpr("proposals AS p").ColumnExpr("p.item")
	queries := []*bun.SelectQuery{
		of(p.IndexHint("judged")).Where(rows.Judged),
		of(p.Listed(domain.Filter{})).Where("k.id IN (?)", p.OpenProposals(disputed, by.Tenant, domain.Contradiction, &by)),
	}
	j := judged{
		map[uint32]float64{},
		recorded,
		roaring.New(),
		roaring.New(), roaring.New(), roaring.New(), roaring.New(), roaring.New(), roaring.New(),
	}
	for _, query := range queries {
		err := database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
			var number uint32
			var confidence float64
			var is [6]bool
			err := rows.Scan(&number, &confidence, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5])
			j.items.Add(number)
			j.confidence[number] = confidence
			is[3] = is[3] && !is[0]
			for i, set := range []*roaring.Bitmap{j.stale, j.expired, j.contested, j.confirmed, j.helpful, j.used} {
				if is[i] {
					set.Add(number)
				}
			}
			return err
		}, query.String())
		if err != nil {
			return j, rows.Failed(ctx, "count knowledge", err)
		}
	}
	if !recorded {
		return j, nil
	}
	err := database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
		var number uint32
		err := rows.Scan(&number)
		j.used.Add(number)
		return err
	}, p.usesOf(by.Tenant).ColumnExpr("u.number").String())
	if err != nil {
		return j, rows.Failed(ctx, "count knowledge", err)
	}
	return j, nil
}

// of counts some items.
func (j judged) of(items *roaring.Bitmap) domain.ScopeCounts {
	of := func(set *roaring.Bitmap) int { return int(items.AndCardinality(set)) }
	all := domain.ScopeCounts{
		Items: int(items.GetCardinality()), Stale: of(j.stale), Contested: of(j.contested), Confirmed: of(j.confirmed),
	}
	if j.recorded {
		all.Unused = all.Items - of(j.used)
	}
	sum := ofNew * float64(all.Items)
	for number := range roaring.Values(roaring.And(items, j.items)) {
		sum += j.confidence[number] - ofNew
	}
	all.Confidence = sum / float64(all.Items)
	return all
}

// newest are the newest items of a list, at most so many.
func (p view) newest(
	ctx context.Context, by domain.Principal, f domain.Filter, most int64, some words.Range,
) (words.Chosen, error) {
	chosen, err := p.chosen(ctx, by, f, some)
	if err == nil {
		err = words.Index{View: p.View}.KeepPassing(ctx, by.Tenant, f, chosen)
	}
	chosen.Keep(most)
	return chosen, err
}

// names are the values of the sets with the most items. The rows of two items of each set tell them.
func (p view) names(
	ctx context.Context, by domain.Principal, facets []map[uint64]*roaring.Bitmap,
) (map[uint64]string, error) {
	told := roaring.New()
	for _, sets := range facets {
		sizes := make([]uint64, 0, len(sets))
		for _, items := range sets {
			sizes = append(sizes, items.GetCardinality())
		}
		slices.Sort(sizes)
		least := sizes[max(0, len(sizes)-mostScopes-1):]
		for _, items := range sets {
			if items.GetCardinality() >= least[0] {
				told.AddMany([]uint32{items.Minimum(), items.Maximum()})
			}
		}
	}
	names := map[uint64]string{}
	if told.IsEmpty() {
		return names, nil
	}
	in := rows.Table{Engine: p.DB.Engine, Tenant: by.Tenant, Table: p.Tables.Knowledge, Alias: "k"}
	query := rows.LookUp(p.DB.NewSelect().
		Column("k.status", "k.type", "k.category", "k.owner", "k.tags", "k.scopes"), in, rows.SingleKeys(told.ToArray()),
		"number")
	err := rows.ScanEach(ctx, p.DB.DB, p.Visible(query, by), func(row *rows.Row, unreadable error) {
		if unreadable != nil {
			return
		}
		words.EachValue(&row.Knowledge, func(kind uint64, value string) {
			name := value
			if tag, of, isTag := strings.Cut(value, "\x00"); isTag && kind == rows.OfTag {
				name = domain.Tags{tag: {of}}.Pairs(":")[0]
			}
			names[words.SetOf(kind, value)] = name
		})
	})
	if err != nil {
		return nil, rows.Failed(ctx, "count knowledge", err)
	}
	return names, nil
}
