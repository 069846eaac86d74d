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
	now      catalogue.View // who may see an item depends on today
	tenant   string
	position int64
	time     time.Time
	by       domain.Principal
	all      bool            // the caller sees everything that is not erased
	answers  bool            // nobody is told what is withheld today; stewards list it
	owners   []domain.Entity // otherwise: what these own today, and what scopes have today
	scopes   []domain.Scope
}

func (p *Projection) asOf(by domain.Principal, position int64, then time.Time, also []domain.Entity) *asOfQuery {
	v := &asOfQuery{
		past: p, now: p.catalogue.ViewOf(p.catalogue.Active(), p.catalogue.DB.DB), tenant: by.Tenant,
		by: by, position: position, time: then, all: by.SeesAll(),
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

// visible narrows the items k to those that the caller may see today. It leaves out items that were erased since,
// unless erased. It is checked after all other conditions.
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
	if v.answers {
		today = today.Where("NOT (n." + rows.Withheld + ")")
	}
	if !v.all {
		seen, args := rows.Seen(v.now.DB.Engine, "n", v.by, v.owners, v.scopes)
		today = today.Where(seen, args...)
	}
	return query.Where("EXISTS (?)", today)
}

// where narrows the items k to those that pass the filter at the position.
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
		query = query.Where(rows.Reaches(v.now.DB.Engine, "k.scopes"), bun.List([]domain.Scope{f.Scope}))
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

// withURI narrows the items k by their URI, which is a text of an event.
func (v *asOfQuery) withURI(query *bun.SelectQuery, where func(*bun.SelectQuery) *bun.SelectQuery) *bun.SelectQuery {
	there := query.NewSelect().ColumnExpr("1").TableExpr("event_texts AS x").
		Where("x.tenant = k.tenant").Where("x.position = " + textPosition("uri_at"))
	return query.Where("EXISTS (?)", where(there))
}

// stale narrows to items that were reported stale or whose confirmation had expired, or to the others.
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

// textPosition is the position of the text that a column of k refers to: that of its event, or of the redaction that
// has what is left of it.
func textPosition(column string) string {
	return "coalesce((SELECT d.said_at FROM destroyed_texts AS d WHERE d.tenant = k.tenant AND d.position = k." + column +
		"), k." + column + ")"
}

// tagged asks for any of the values under a key, or for the key alone if there are no values. Tags are texts of
// events, which are read only for items whose tag signature may have them.
func (v *asOfQuery) tagged(query *bun.SelectQuery, key string, values []string) *bun.SelectQuery {
	// For unsigned numbers, a & b >= b holds only if a & b = b. For "=" PostgreSQL would expect so few rows that it
	// reads all items rather than the newest.
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
