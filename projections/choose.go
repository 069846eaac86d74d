package projections

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

var _ events.Selection = (*Knowledge)(nil)

// Streams implements [events.Selection].
func (p *Knowledge) Streams(ctx context.Context, q domain.EventQuery, most int) (streams []string, many bool, err error) {
	if err := p.refresh(ctx); err != nil {
		return nil, false, err
	}
	p = p.pinned()
	seen := set{}
	for _, part := range p.chosenItems(q) {
		var ids []string
		if err := part.Limit(int64(most)+1).Scan(ctx, &ids); err != nil {
			return nil, false, p.failed(ctx, "choose items", err)
		}
		for _, id := range ids {
			seen.add(&streams, domain.KnowledgeStream(id))
		}
		if len(streams) > most {
			return streams, true, nil
		}
	}
	return streams, false, nil
}

// chosenItems selects the ids of the items that a query is about, each part by an index of its own: by
// scope, by owner, or by everything that the principal belongs to.
func (p *Knowledge) chosenItems(q domain.EventQuery) []*bun.SelectQuery {
	condition, args := p.isChosen(q)
	rest := func(query *bun.SelectQuery) *bun.SelectQuery {
		return query.ColumnExpr("k.id").Where("k.tenant = ?", q.Tenant).Where(condition, args...)
	}
	owned := func(owner domain.Entity) *bun.SelectQuery {
		return rest(p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).Where("k.owner = ?", owner))
	}
	reaching := func(scope domain.Scope) *bun.SelectQuery {
		return rest(p.db.NewSelect().TableExpr("? AS a", p.tables().scopes).
			Join("JOIN ? AS k ON k.tenant = a.tenant AND k.number = a.number", p.tables().knowledge).
			Where("a.tenant = ?", q.Tenant).Where("a.scope = ?", scope))
	}
	gone := func() *bun.SelectQuery {
		return rest(p.db.NewSelect().TableExpr("? AS k", p.tables().knowledge).Where("k.status IN ('deleted', 'erased')"))
	}
	switch {
	case q.Owner != "":
		return []*bun.SelectQuery{owned(q.Owner)}
	case q.Scope != "":
		return []*bun.SelectQuery{reaching(q.Scope), gone()}
	}
	parts := []*bun.SelectQuery{reaching(domain.Public)}
	for _, entity := range q.Only.Entities() {
		parts = append(parts, owned(entity), reaching(entity.Scope()))
	}
	return parts
}

// Condition implements [events.Selection]. The item is looked up for each event by itself: left alone,
// PostgreSQL may rather read all of the tenant's.
func (p *Knowledge) Condition(q domain.EventQuery) (where string, args []any) {
	condition, args := p.isChosen(q)
	return `substr(e.stream, 1, 10) = 'knowledge:' AND (
			SELECT ` + condition + `
			FROM ? AS k
			WHERE k.tenant = e.tenant AND k.id = substr(e.stream, 11)
		)`, append(args, p.tables().knowledge)
}

// isChosen tells of an item k whether a query is about it.
func (p *Knowledge) isChosen(q domain.EventQuery) (condition string, args []any) {
	parts := []string{"1 = 1"}
	add := func(part string, values ...any) { parts, args = append(parts, part), append(args, values...) }
	if q.Owner != "" {
		add("k.owner = ?", q.Owner)
	}
	if q.Scope != "" {
		add(p.reaches(), bun.List([]domain.Scope{q.Scope}))
	}
	if q.Only != nil {
		entities := q.Only.Entities()
		scopes := []domain.Scope{domain.Public}
		for _, entity := range entities {
			scopes = append(scopes, entity.Scope())
		}
		add("(k.owner IN (?) OR k.status NOT IN ('deleted', 'erased') AND "+p.reaches()+")",
			bun.List(entities), bun.List(scopes))
	}
	return strings.Join(parts, " AND "), args
}

// reaches tells of an item k whether it has one of the scopes. Deleted items keep theirs, and the index
// of scopes has only what answers may contain.
func (p *Knowledge) reaches() string {
	if p.db.Engine == database.SQLite {
		return "EXISTS (SELECT 1 FROM json_each(k.scopes) AS s WHERE s.value IN (?))"
	}
	return "EXISTS (SELECT 1 FROM json_array_elements_text(k.scopes) AS s (scope) WHERE s.scope IN (?))"
}
