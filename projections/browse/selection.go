package browse

import (
	"cmp"
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

var _ events.Selection = (*Browser)(nil)

func (b *Browser) Streams(ctx context.Context, q domain.EventQuery, most int) (streams []string, many bool, err error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, false, err
	}
	parts, err := p.chosenItems(ctx, q, most)
	if err != nil {
		return nil, false, err
	}
	seen := rows.Set{}
	for _, part := range parts {
		var ids []string
		if err := part.Limit(int64(most)+1).Scan(ctx, &ids); err != nil {
			return nil, false, rows.Failed(ctx, "choose items", err)
		}
		for _, id := range ids {
			seen.Add(&streams, domain.KnowledgeStream(id))
		}
		if len(streams) > most {
			return streams, true, nil
		}
	}
	return streams, false, nil
}

// chosenItems selects the ids of the items that a query may be about: by scope, by owner, or by everything that the
// principal belongs to. Sets tell those that answers may contain, of which it selects one more than most.
func (p view) chosenItems(ctx context.Context, q domain.EventQuery, most int) ([]*bun.SelectQuery, error) {
	now, args := p.isChosen(q)
	readable, readableArgs := p.isReadable(q)
	all := func(from any) *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("?", from).ColumnExpr("k.id").Where("k.tenant = ?", q.Tenant).Where(now, args...)
	}
	owned := func(owners ...domain.Entity) *bun.SelectQuery {
		return all(p.Listed(domain.Filter{})).Where("k.owner IN (?)", bun.List(owners))
	}
	once := func(table rows.Source) *bun.SelectQuery { // in this order: otherwise SQLite may scan every item
		return p.DB.NewSelect().TableExpr("? AS w", table).Join("CROSS JOIN ? AS k", p.Tables.Knowledge).ColumnExpr("k.id").
			Where("w.tenant = ?", q.Tenant).Where("k.tenant = w.tenant").Where("k.number = w.number").
			Distinct().Where(readable, readableArgs...)
	}
	if q.Owner != "" {
		parts := []*bun.SelectQuery{owned(q.Owner)}
		if p.past != nil {
			parts = append(parts, once(p.past.Items).Where("w.owner = ?", q.Owner))
		}
		return parts, nil
	}
	by := domain.Principal{Tenant: q.Tenant, Role: domain.Admin}
	if q.Only != nil {
		by = *q.Only
	}
	shared, err := p.chosen(ctx, by, domain.Filter{Scope: q.Scope, Statuses: live}, words.SetsOfGroups)
	if err != nil {
		return nil, err
	}
	shared.Keep(int64(most) + 1)
	parts := []*bun.SelectQuery{
		all(p.Listed(domain.Filter{})).Where("k.number IN (?)", bun.List(shared.ToArray())),
	}
	withheld := all(p.IndexHint("withheld")).Where("k." + rows.Withheld)
	if parts = append(parts, withheld); q.Scope == "" {
		return append(parts, owned(q.Only.Entities()...)), nil
	}
	parts = append(parts, all(p.IndexHint("gone")).Where("k."+rows.Gone))
	if p.past != nil {
		parts = append(parts, once(p.past.Scopes).Where("w.scope = ?", q.Scope))
	}
	return parts, nil
}

// Condition implements [events.Selection]. It looks the item up for each event: with a join, PostgreSQL may read all
// items of the tenant.
func (b *Browser) Condition(q domain.EventQuery) (where string, args []any) {
	p := view{View: b.catalogue.ViewOf(b.catalogue.Active(), b.catalogue.DB.DB), past: b.Past.Load()}
	condition, args := p.isReadable(q)
	narrow := func(now string, nowValue any, table rows.Source, then string, value any) {
		condition, args = condition+" AND ("+now, append(args, nowValue)
		if p.past != nil {
			condition += ` OR EXISTS (
				SELECT 1
				FROM ? AS w
				WHERE w.tenant = k.tenant AND w.number = k.number
				AND w.since <= e.position AND w.until >= e.position AND ` + then + ")"
			args = append(args, table, value)
		}
		condition += ")"
	}
	then := cmp.Or(p.past, &rows.PastTables{})
	if q.Owner != "" {
		narrow("k.owner = ?", q.Owner, then.Items, "w.owner = ?", q.Owner)
	}
	if q.Scope != "" {
		narrow(rows.Reaches(p.DB.Engine, "k.scopes"), bun.List([]domain.Scope{q.Scope}), then.Scopes, "w.scope = ?", q.Scope)
	}
	item := domain.KnowledgeStream("")
	return fmt.Sprintf(`substr(e.stream, 1, %d) = '%s' AND (
			SELECT %s
			FROM ? AS k
			WHERE k.tenant = e.tenant AND k.id = substr(e.stream, %d)
		)`, len(item), item, condition, len(item)+1), append(args, p.Tables.Knowledge)
}

// isChosen is the condition that a query is about the item k, as k is now.
func (p view) isChosen(q domain.EventQuery) (condition string, args []any) {
	condition, args = p.isReadable(q)
	if q.Owner != "" {
		condition, args = condition+" AND k.owner = ?", append(args, q.Owner)
	}
	if q.Scope != "" {
		condition += " AND " + rows.Reaches(p.DB.Engine, "k.scopes")
		args = append(args, bun.List([]domain.Scope{q.Scope}))
	}
	return condition, args
}

// isReadable is the condition that the caller may read the events of the item k.
func (p view) isReadable(q domain.EventQuery) (condition string, args []any) {
	if q.Only == nil {
		return "1 = 1", nil
	}
	return rows.Seen(p.DB.Engine, "k", *q.Only, q.Only.Entities(), rows.ScopesOf(*q.Only))
}
