package past

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// factRow is an item as it was, with one of the facts that have its texts.
type factRow struct {
	itemRow
	events.RecordedFact
}

// factsBeside joins the facts at the positions that the items k and their counts c name. On PostgreSQL only an array
// of these positions uses the index once per row.
func (v *asOfQuery) factsBeside(query *bun.SelectQuery) *bun.SelectQuery {
	const at = "k.number, k.task_at, k.content_at, k.abstract_at, k.overview_at, k.tags_at, k.meta_at, k.uri_at, " +
		"c.reason_at, c.suspended_reason_at"
	among := "IN (" + at + ")"
	if v.past.catalogue.DB.Engine == database.Postgres {
		among = "= ANY (ARRAY[" + at + "])"
	}
	return query.ColumnExpr(events.FactColumns).
		Join("LEFT JOIN events AS e ON e.tenant = ? AND e.position "+among, v.tenant).
		Join("LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position")
}

// page reads the rows of a page with their facts, newest first, and in each row the projection's position. One
// statement is one snapshot and one round trip. An empty page has no position.
func (v *asOfQuery) page(ctx context.Context, db bun.IDB, list domain.List, limit int) (found []factRow, err error) {
	query := v.factsBeside(v.past.described(v.itemsAt(db, list, limit), v.position)).
		ColumnExpr("(SELECT r.position FROM checkpoints AS r WHERE r.projection = ? AND r.tenant = ?) AS reached",
			v.past.Name(), v.tenant)
	if slices.Contains(list.Filter.Statuses, domain.IsErased) {
		query = query.ColumnExpr("(SELECT n.status FROM ? AS n WHERE n.tenant = k.tenant AND n.number = k.number) AS today",
			v.now.Tables.Knowledge)
	}
	return found, query.OrderExpr("k.number DESC").Scan(ctx, &found)
}

// splitRows separates the items of rows from the facts, each once.
func splitRows(found []factRow) (items []itemRow, facts []events.RecordedFact) {
	for i := range found {
		if len(items) == 0 || items[len(items)-1].Number != found[i].Number {
			items = append(items, found[i].itemRow)
		}
		if found[i].Position > 0 {
			facts = append(facts, found[i].RecordedFact)
		}
	}
	return items, facts
}

// itemsAt selects the items of a page. For a principal that sees everything these are the newest of the tenant,
// otherwise the newest of its scopes and entities.
func (v *asOfQuery) itemsAt(db bun.IDB, list domain.List, limit int) *bun.SelectQuery {
	newest := func(query *bun.SelectQuery, number string) *bun.SelectQuery {
		query = v.where(query, list.Filter)
		if list.Before > 0 {
			query = query.Where(number+" < ?", list.Before)
		}
		return query.Where(number+" <= ?", v.position).OrderExpr(number + " DESC").Limit(int64(limit))
	}
	shared := func(scope any) *bun.SelectQuery {
		query := db.NewSelect().TableExpr("? AS a", v.past.Tables.Scopes).
			Join("JOIN ? AS k ON k.tenant = a.tenant AND k.number = a.number", v.past.Tables.Items).
			Where("a.tenant = ?", v.tenant).Where("a.scope = ?", scope)
		return newest(v.at(query, "a"), "a.number")
	}
	if list.By.SeesAll() {
		switch f := list.Filter; {
		case f.Owner != "":
			return newest(v.owned(db), "k.number").ColumnExpr("k.*")
		case f.Scope != "" && rows.OnlyLive(f.Statuses): // others have no rows of scopes
			list.Filter.Scope = "" // shared narrows to it
			return shared(f.Scope).ColumnExpr("k.*")
		}
		return newest(db.NewSelect().TableExpr("? AS k", v.past.Tables.Items), "k.number").ColumnExpr("k.*")
	}
	owned := func(owner any) *bun.SelectQuery {
		return newest(v.owned(db).Where("k.owner = ?", owner), "k.number").ColumnExpr("k.number")
	}
	reaching := func(scope any) *bun.SelectQuery { return shared(scope).ColumnExpr("a.number") }
	engine := v.past.catalogue.DB.Engine
	found := rows.EachOf(db, engine, list.By.Entities(), owned).Union(rows.EachOf(db, engine, v.scopes, reaching))
	numbers := db.NewSelect().ColumnExpr("number").TableExpr("(?) AS found", found).OrderExpr("number DESC").
		Limit(int64(limit))
	return v.past.itemsAt(db, v.tenant, v.position).Where("k.number IN (?)", numbers)
}

// owned selects from the items by their owners.
func (v *asOfQuery) owned(db bun.IDB) *bun.SelectQuery {
	query := db.NewSelect()
	if v.past.catalogue.DB.Engine == database.SQLite { // it would read the newest items of all owners
		return query.TableExpr("? AS k INDEXED BY ?", v.past.Tables.Items, v.past.Tables.Owners)
	}
	return query.TableExpr("? AS k", v.past.Tables.Items)
}
