package past

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// asOfQuery is the past at one position, as one caller may see it.
type asOfQuery struct {
	past     *Projection
	now      catalogue.View // pinned: who may see an item is a question of today
	tenant   string
	position int64
	time     time.Time
	all      bool            // whatever is not erased
	owners   []domain.Entity // else: what these own, and what these scopes contain, today
	scopes   []domain.Scope
}

func (p *Projection) asOf(by domain.Principal, position int64, then time.Time, also []domain.Entity) *asOfQuery {
	v := &asOfQuery{
		past: p, now: p.catalogue.ViewOf(p.catalogue.Active(), p.catalogue.DB.DB), tenant: by.Tenant,
		position: position, time: then, all: by.SeesAll(),
	}
	if then.IsZero() {
		v.time = p.catalogue.Now()
	}
	if v.all {
		return v
	}
	v.owners = append(by.Entities(), also...)
	v.scopes = []domain.Scope{domain.Public}
	for _, entity := range v.owners {
		v.scopes = append(v.scopes, entity.Scope())
	}
	return v
}

// at narrows rows, under an alias, to those that held at the position.
func (v *asOfQuery) at(query *bun.SelectQuery, alias string) *bun.SelectQuery {
	a := bun.Ident(alias)
	return query.Where("?.since <= ?", a, v.position).Where("?.until > ?", a, v.position)
}

// visible narrows the items k to those that the caller may see today. What was erased is a tombstone, at
// every time. It is asked of what passes everything else.
func (v *asOfQuery) visible(query *bun.SelectQuery, erased bool) *bun.SelectQuery {
	if v.all && erased {
		return query
	}
	now := v.now.Tables
	today := query.NewSelect().ColumnExpr("1").TableExpr("? AS n", now.Knowledge).
		Where("n.tenant = k.tenant").Where("n.number = k.number")
	if !erased {
		today = today.Where("n.status <> ?", domain.IsErased)
	}
	if !v.all {
		today = today.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("n.owner IN (?)", bun.List(v.owners)).
				WhereOr("EXISTS (SELECT 1 FROM ? AS s WHERE s.tenant = n.tenant AND s.number = n.number AND s.scope IN (?))",
					now.Scopes, bun.List(v.scopes))
		})
	}
	return query.Where("EXISTS (?)", today)
}

// where narrows the items k to what passed the filter at the position.
func (v *asOfQuery) where(query *bun.SelectQuery, f domain.Filter) *bun.SelectQuery {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = []domain.Status{domain.Active}
	}
	erased := slices.Contains(statuses, domain.IsErased)
	query = v.visible(v.at(query.Where("k.tenant = ?", v.tenant), "k"), erased)
	if erased {
		query = query.Where("((SELECT n.status FROM ? AS n WHERE n.tenant = k.tenant AND n.number = k.number) = ? OR "+
			"k.status IN (?))",
			v.now.Tables.Knowledge, domain.IsErased, bun.List(statuses))
	} else {
		query = rows.Among(query, "k.status", statuses)
	}
	query = rows.WhereKind(query, f)
	query = rows.Between(query, "k.created_at", f.CreatedFrom, f.CreatedTo)
	query = rows.Between(query, "k.updated_at", f.UpdatedFrom, f.UpdatedTo)
	if f.Scope != "" {
		query = query.Where(v.contains("k.scopes"), f.Scope)
	}
	if f.Stale != nil {
		query = v.stale(query, *f.Stale)
	}
	if f.URIPrefix != "" {
		uri := v.uri()
		query = v.withURI(query, func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where(uri+" >= ?", f.URIPrefix).Where(uri+" < ?", f.URIPrefix+rows.LastCharacter)
		})
	}
	if len(f.Under) > 0 {
		query = v.withURI(query, func(q *bun.SelectQuery) *bun.SelectQuery { return rows.Under(q, v.uri(), f.Under) })
	}
	if len(f.Levels) > 0 {
		query = v.withURI(query, func(q *bun.SelectQuery) *bun.SelectQuery { return rows.Levelled(q, v.uri(), f.Levels) })
	}
	for _, tags := range f.Tagged() {
		for _, key := range slices.Sorted(maps.Keys(tags)) {
			query = v.tagged(query, key, tags[key])
		}
	}
	return query
}

// uri is the URI in the texts x.
func (v *asOfQuery) uri() string {
	if v.past.catalogue.DB.Engine == database.Postgres {
		return `(x.text ->> 'uri') COLLATE "C"`
	}
	return "(x.text ->> 'uri')"
}

// withURI narrows the items k by where they were, which lies beside the event that said so.
func (v *asOfQuery) withURI(query *bun.SelectQuery, where func(*bun.SelectQuery) *bun.SelectQuery) *bun.SelectQuery {
	there := query.NewSelect().ColumnExpr("1").TableExpr("event_texts AS x").
		Where("x.tenant = k.tenant").Where("x.position = " + textPosition("uri_at"))
	return query.Where("EXISTS (?)", where(there))
}

// stale asks whether an item was reported stale, or its confirmation had expired. Few ever were.
func (v *asOfQuery) stale(query *bun.SelectQuery, stale bool) *bun.SelectQuery {
	const reported = `k.number IN (
		SELECT c.number FROM ? AS c WHERE c.tenant = ? AND (c.reporters > 0 OR c.confirm_until IS NOT NULL)
		AND (c.reporters > 0 OR c.confirm_until <= ?) AND c.since <= ?
		AND NOT EXISTS (
			SELECT 1 FROM ? AS l
			WHERE l.tenant = c.tenant AND l.number = c.number AND l.since > c.since AND l.since <= ?))`
	args := []any{v.past.Tables.Counts, v.tenant, database.At(v.time), v.position, v.past.Tables.Counts, v.position}
	if stale {
		return query.Where(reported, args...)
	}
	return query.Where("NOT "+reported, args...)
}

// contains asks a list of strings for one.
func (v *asOfQuery) contains(column string) string {
	if v.past.catalogue.DB.Engine == database.SQLite {
		return "EXISTS (SELECT 1 FROM json_each(" + column + ") AS s WHERE s.value = ?)"
	}
	return "jsonb_exists(" + column + "::jsonb, ?)"
}

// textPosition is where the text is whose position a column of k has: beside that event, or what is left of
// it beside the one that redacted it.
func textPosition(column string) string {
	return "coalesce((SELECT d.said_at FROM destroyed_texts AS d WHERE d.tenant = k.tenant AND d.position = k." + column +
		"), k." + column + ")"
}

// tagged asks for any of the values under a key, or with none for the key itself. Tags lie beside the
// event that gave them, where only items are looked up whose bits allow for them.
func (v *asOfQuery) tagged(query *bun.SelectQuery, key string, values []string) *bun.SelectQuery {
	// Some bits of a number without a sign are all of them if they are no less. Of "=" PostgreSQL would expect so few
	// that it reads all items rather than the newest.
	const has, end = "(k.tag_bits & ?) >= ?", ")"
	beside := " AND EXISTS (SELECT 1 FROM event_texts AS x WHERE x.tenant = k.tenant AND x.position = " +
		textPosition("tags_at") + " AND "
	if len(values) == 0 {
		bits := signatureOfKey(key).column()
		if v.past.catalogue.DB.Engine == database.SQLite {
			return query.Where(has+beside+"EXISTS (SELECT 1 FROM json_each(x.text, '$.tags') AS t WHERE t.key = ?)"+end,
				bits, bits, key)
		}
		return query.Where(has+beside+"jsonb_exists((x.text -> 'tags')::jsonb, ?)"+end, bits, bits, key)
	}
	return query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, value := range values {
			bits := signatureOfTag(key, value).column()
			if v.past.catalogue.DB.Engine == database.SQLite {
				q = q.WhereOr(has+beside+"EXISTS (SELECT 1 FROM json_each(x.text, '$.tags') AS t, json_each(t.value) AS v WHERE "+
					"t.key = ? AND v.value = ?)"+end,
					bits, bits, key, value)
				continue
			}
			pattern, _ := json.Marshal(map[string][]string{key: {value}})
			q = q.WhereOr(has+beside+"(x.text -> 'tags')::jsonb @> ?::jsonb"+end, bits, bits, string(pattern))
		}
		return q
	})
}
