package browse

import (
	"cmp"
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

var _ events.Selection = (*Browser)(nil)

func (b *Browser) Streams(ctx context.Context, q domain.EventQuery, most int) (streams []string, many bool, err error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, false, err
	}
	seen := rows.Set{}
	for _, part := range p.chosenItems(q) {
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
// principal belongs to. Each part uses an index of its own.
func (p view) chosenItems(q domain.EventQuery) []*bun.SelectQuery {
	now, args := p.isChosen(q)
	readable, readableArgs := p.isReadable(q)
	all := func() *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("k.id").Where("k.tenant = ?", q.Tenant)
	}
	owned := func(owner domain.Entity) *bun.SelectQuery {
		return all().Where("k.owner = ?", owner).Where(now, args...)
	}
	by := func(table bun.Ident) *bun.SelectQuery { // in this order: otherwise SQLite may scan every item
		return p.DB.NewSelect().TableExpr("? AS w", table).Join("CROSS JOIN ? AS k", p.Tables.Knowledge).ColumnExpr("k.id").
			Where("w.tenant = ?", q.Tenant).Where("k.tenant = w.tenant").Where("k.number = w.number")
	}
	reaching := func(scope domain.Scope) *bun.SelectQuery {
		return by(p.Tables.Scopes).Where("w.scope = ?", scope).Where(now, args...)
	}
	gone := func() *bun.SelectQuery {
		return p.DB.NewSelect().TableExpr("?", p.IndexHint("gone")).ColumnExpr("k.id").Where("k.tenant = ?", q.Tenant).
			Where("k."+rows.Gone).Where(now, args...)
	}
	once := func(table bun.Ident) *bun.SelectQuery { return by(table).Distinct().Where(readable, readableArgs...) }
	then := p.past
	switch {
	case q.Owner != "" && then != nil:
		return []*bun.SelectQuery{owned(q.Owner), once(then.Items).Where("w.owner = ?", q.Owner)}
	case q.Owner != "":
		return []*bun.SelectQuery{owned(q.Owner)}
	case q.Scope != "" && then != nil:
		return []*bun.SelectQuery{reaching(q.Scope), gone(), once(then.Scopes).Where("w.scope = ?", q.Scope)}
	case q.Scope != "":
		return []*bun.SelectQuery{reaching(q.Scope), gone()}
	}
	parts := []*bun.SelectQuery{reaching(domain.Public)}
	for _, entity := range q.Only.Entities() {
		parts = append(parts, owned(entity), reaching(entity.Scope()))
	}
	return parts
}

// Condition implements [events.Selection]. It looks the item up for each event: with a join, PostgreSQL may read all
// items of the tenant.
func (b *Browser) Condition(q domain.EventQuery) (where string, args []any) {
	p := view{View: b.catalogue.ViewOf(b.catalogue.Active(), b.catalogue.DB.DB), past: b.Past.Load()}
	condition, args := p.isReadable(q)
	narrow := func(now string, nowValue any, table bun.Ident, then string, value any) {
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
		narrow(reaches(p.DB.Engine), bun.List([]domain.Scope{q.Scope}), then.Scopes, "w.scope = ?", q.Scope)
	}
	return `substr(e.stream, 1, 10) = 'knowledge:' AND (
			SELECT ` + condition + `
			FROM ? AS k
			WHERE k.tenant = e.tenant AND k.id = substr(e.stream, 11)
		)`, append(args, p.Tables.Knowledge)
}

// isChosen is the condition that a query is about the item k, as k is now.
func (p view) isChosen(q domain.EventQuery) (condition string, args []any) {
	condition, args = p.isReadable(q)
	if q.Owner != "" {
		condition, args = condition+" AND k.owner = ?", append(args, q.Owner)
	}
	if q.Scope != "" {
		condition, args = condition+" AND "+reaches(p.DB.Engine), append(args, bun.List([]domain.Scope{q.Scope}))
	}
	return condition, args
}

// isReadable is the condition that the caller may read the events of the item k.
func (p view) isReadable(q domain.EventQuery) (condition string, args []any) {
	if q.Only == nil {
		return "1 = 1", nil
	}
	return "(k.owner IN (?) OR k.status NOT IN ('deleted', 'erased') AND " + reaches(p.DB.Engine) + ")",
		[]any{bun.List(q.Only.Entities()), bun.List(rows.ScopesOf(*q.Only))}
}

// reaches is the condition that the item k has one of the scopes. It reads the item's own scopes, because the index
// of scopes leaves out deleted items.
func reaches(engine database.Engine) string {
	if engine == database.SQLite {
		return "EXISTS (SELECT 1 FROM json_each(" + rows.JSON("k.scopes") + ") AS s WHERE s.value IN (?))"
	}
	return "EXISTS (SELECT 1 FROM json_array_elements_text(CASE json_typeof(k.scopes) WHEN 'array' THEN k.scopes END) " +
		"AS s (scope) WHERE s.scope IN (?))"
}
