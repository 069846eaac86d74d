package rows

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// LastCharacter comes after every character that a URI contains.
const LastCharacter = "\U0010FFFF"

// Live holds for items that answers may contain. Only their URIs must be unique.
const Live = "status IN ('active', 'superseded')"

// Gone holds for items that no answer may contain.
const Gone = "status IN ('deleted', 'erased')"

// Withheld holds for items that only stewards see.
const Withheld = "status IN ('quarantined', 'proposed')"

// Where narrows a query over items k of the knowledge table to those that pass the filter. Lists, searches by words
// and searches by meaning share these conditions.
func (p Reader) Where(query *bun.SelectQuery, tenant string, f domain.Filter) *bun.SelectQuery {
	query = query.Where("k.tenant = ?", tenant)
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = []domain.Status{domain.Active}
	}
	query = Among(query, "k.status", statuses)
	if _, condition := SelectiveIndex(f); condition != "" {
		query = query.Where(condition)
	}
	query = WhereKind(query, f)
	if f.URIPrefix != "" {
		query = query.Where("k.uri >= ? AND k.uri < ?", f.URIPrefix, f.URIPrefix+LastCharacter)
	}
	if len(f.Under) > 0 {
		query = Under(query, "k.uri", f.Under)
	}
	if len(f.Levels) > 0 {
		query = Levelled(query, "k.uri", f.Levels)
	}
	if f.Stale != nil {
		query = query.Where(map[bool]string{
			true:  "(k.stale_reporters > 0 OR k.confirm_until <= ?)",
			false: "k.stale_reporters = 0 AND (k.confirm_until IS NULL OR k.confirm_until > ?)",
		}[*f.Stale], database.At(p.Now()))
	}
	query = p.judged(query, tenant, f)
	query = Between(query, "k.created_at", f.CreatedFrom, f.CreatedTo)
	query = Between(query, "k.updated_at", f.UpdatedFrom, f.UpdatedTo)
	for _, tags := range f.Tagged() {
		for _, key := range slices.Sorted(maps.Keys(tags)) {
			query = p.tagged(query, key, tags[key])
		}
	}
	if f.Scope != "" {
		query = query.Where(Reaches(p.DB.Engine, "k.scopes"), bun.List([]domain.Scope{f.Scope}))
	}
	return query
}

// judged asks for items by their votes, their confirmation and their confidence.
func (p Reader) judged(query *bun.SelectQuery, tenant string, f domain.Filter) *bun.SelectQuery {
	now := database.At(p.Now())
	if f.Contested != nil {
		query = query.Where(map[bool]string{true: "?", false: "NOT ?"}[*f.Contested], p.Contested(tenant, f.Reader))
	}
	if f.Expired != nil {
		query = query.Where(map[bool]string{
			true: "k.confirm_until <= ?", false: "(k.confirm_until IS NULL OR k.confirm_until > ?)",
		}[*f.Expired], now)
	}
	if f.MinConfidence != nil {
		query = query.Where(ConfidenceAt+" >= ?1", now, *f.MinConfidence)
	}
	if f.MaxConfidence != nil {
		query = query.Where(ConfidenceAt+" <= ?1", now, *f.MaxConfidence)
	}
	return query
}

// Refuted is the condition that an item k is contested because of votes or reports, at the time ?0.
func Refuted() string {
	return fmt.Sprintf("%s < %g AND (k.harmful > 0 OR %s > 0)", ConfidenceAt, domain.ContestedBelow, ReportersAt)
}

// Contested is the condition that an item k is contested for a reader: see [domain.Rating.Contested]. nil sees all.
func (p Reader) Contested(tenant string, reader *domain.Principal) schema.QueryWithArgs {
	disputed := p.DB.NewSelect().TableExpr("proposals AS p").ColumnExpr("p.item")
	return bun.SafeQuery("("+Refuted()+" OR k.id IN (?1))", database.At(p.Now()),
		p.OpenProposals(disputed, tenant, domain.Contradiction, reader))
}

// OpenProposals narrows a query over proposals p to open ones of a kind, all of whose items are active and visible to
// the reader. nil sees all.
func (p Reader) OpenProposals(
	query *bun.SelectQuery, tenant string, kind domain.ProposalKind, reader *domain.Principal,
) *bun.SelectQuery {
	seen := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).ColumnExpr("1").
		Where("k.tenant = o.tenant").Where("k.id = o.item").Where("k.status = 'active'")
	if reader != nil {
		seen = p.Visible(seen, *reader)
	}
	hidden := p.DB.NewSelect().TableExpr("proposals AS o").ColumnExpr("1").
		Where("o.tenant = p.tenant").Where("o.proposal = p.proposal").Where("NOT EXISTS (?)", seen)
	return query.Where("p.tenant = ?", tenant).Where("p.is_open").Where("p.kind = ?", kind).
		Where("NOT EXISTS (?)", hidden)
}

// Under asks for items at or below any of several URIs.
func Under(query *bun.SelectQuery, uri string, places []domain.URI) *bun.SelectQuery {
	return query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, place := range places {
			q = q.WhereOr("("+uri+" = ? OR "+uri+" >= ? AND "+uri+" < ?)", place, Beginning(place),
				Beginning(place)+LastCharacter)
		}
		return q
	})
}

// Levelled asks for items of any of several levels. The short texts have URIs with names of their own.
func Levelled(query *bun.SelectQuery, uri string, levels []domain.Level) *bun.SelectQuery {
	const short = "substr(?, length(?) - 12) = ?" // each of the names has twelve characters, after a slash
	ends := func(q *bun.SelectQuery, name string) *bun.SelectQuery {
		return q.WhereOr(short, bun.Safe(uri), bun.Safe(uri), "/"+name)
	}
	return query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, level := range levels {
			switch level {
			case domain.Abstract:
				q = ends(q, domain.AbstractName)
			case domain.Overview:
				q = ends(q, domain.OverviewName)
			default:
				q = q.WhereOr("substr(?, length(?) - 12) NOT IN (?)", bun.Safe(uri), bun.Safe(uri),
					bun.List([]string{"/" + domain.AbstractName, "/" + domain.OverviewName}))
			}
		}
		return q
	})
}

// OnlyLive tells whether all of these statuses are of items that answers may contain. No set has other items.
func OnlyLive(statuses []domain.Status) bool {
	return !slices.ContainsFunc(statuses, func(s domain.Status) bool {
		return s != domain.Active && s != domain.IsSuperseded
	})
}

func Among[T ~string](query *bun.SelectQuery, column string, values []T) *bun.SelectQuery {
	if len(values) == 0 {
		return query
	}
	return query.Where(column+" IN (?)", bun.List(values))
}

func Between(query *bun.SelectQuery, column string, from, to time.Time) *bun.SelectQuery {
	if !from.IsZero() {
		query = query.Where(column+" >= ?", database.At(from))
	}
	if !to.IsZero() {
		query = query.Where(column+" < ?", database.At(to))
	}
	return query
}

// JSON is a column of SQLite as JSON, or NULL if it is not valid JSON: then the item does not pass, and the query
// does not fail.
func JSON(column string) string {
	return "CASE WHEN json_valid(" + column + ") THEN " + column + " END"
}

// tagged asks for any of the values under a key, or for the key alone if there are no values.
func (p Reader) tagged(query *bun.SelectQuery, key string, values []string) *bun.SelectQuery {
	if p.DB.Engine == database.SQLite {
		if len(values) == 0 {
			return query.Where("EXISTS (SELECT 1 FROM json_each("+JSON("k.tags")+") AS t WHERE t.key = ?)", key)
		}
		return query.Where("EXISTS (SELECT 1 FROM json_each("+JSON("k.tags")+") AS t, json_each(CASE t.type WHEN 'array' "+
			"THEN t.value END) AS v WHERE t.key = ? AND v.value IN (?))",
			key, bun.List(values))
	}
	if len(values) == 0 {
		return query.Where("jsonb_exists(k.tags, ?)", key)
	}
	return query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, value := range values {
			pattern, _ := json.Marshal(map[string][]string{key: {value}})
			q = q.WhereOr("k.tags @> ?", string(pattern))
		}
		return q
	})
}

// Visible narrows the items k to those that the principal may see.
func (p Reader) Visible(query *bun.SelectQuery, by domain.Principal) *bun.SelectQuery {
	if by.SeesAll() {
		return query
	}
	condition, args := Seen(p.DB.Engine, "k", by, by.Entities(), ScopesOf(by))
	return query.Where(condition, args...)
}

// Seen is the condition that a principal may see an item in a table, under an alias: see [domain.Principal.MaySee]. It
// sees what some owners own and what some scopes reach.
func Seen(
	engine database.Engine, alias string, by domain.Principal, owners []domain.Entity, scopes []domain.Scope,
) (condition string, args []any) {
	a, reached := alias+".", Reaches(engine, alias+".scopes")
	authors := "json_each(" + JSON(a+"baseline") + ", '$.voices.authors') AS s"
	if engine == database.Postgres {
		authors = EachScope(engine, "("+a+"baseline #> '{voices,authors}')")
	}
	condition = a + "owner IN (?) AND NOT (" + a + Withheld + ") OR " + a + Live + " AND " + reached +
		" OR " + a + "status = 'proposed' AND (" + a + "owner IN (?) OR EXISTS (SELECT 1 FROM " + authors +
		" WHERE s.value IN (?)))"
	args = []any{bun.List(owners), bun.List(scopes), bun.List(by.Selves()), bun.List(by.Selves())}
	if len(by.Maintains) > 0 {
		condition += " OR " + a + Withheld + " AND " + reached
		args = append(args, bun.List(by.Maintains))
	}
	return "(" + condition + ")", args
}

// Reaches is the condition that an item has one of some scopes. It reads the item's own scopes in a column.
func Reaches(engine database.Engine, column string) string {
	return "EXISTS (SELECT 1 FROM " + EachScope(engine, column) + " WHERE s.value IN (?))"
}

// EachScope are the scopes s.value in a column.
func EachScope(engine database.Engine, column string) string {
	if engine == database.SQLite {
		return "json_each(" + JSON(column) + ") AS s"
	}
	return "json_array_elements_text(CASE json_typeof(" + column + ") WHEN 'array' THEN " + column + " END) AS s (value)"
}

// ScopesOf are the scopes whose items a principal may see, whoever owns them.
func ScopesOf(by domain.Principal) []domain.Scope {
	scopes := []domain.Scope{domain.Public}
	for _, entity := range by.Entities() {
		scopes = append(scopes, entity.Scope())
	}
	return scopes
}

// Beginning is what the URIs of everything in a directory begin with.
func Beginning(directory domain.URI) string {
	if directory == domain.RootURI {
		return string(directory)
	}
	return string(directory) + "/"
}

// Narrow applies a filter's scope to an audience, and returns the rest of the filter. If the audience may see that
// scope, only that scope is left, because the other scopes have no other items that pass.
func Narrow(f domain.Filter, audience domain.Audience) (domain.Audience, domain.Filter) {
	scope := f.Scope
	if scope == "" || !audience.Everything && !slices.Contains(audience.Scopes, scope) {
		return audience, f
	}
	f.Scope = ""
	return domain.Audience{Scopes: []domain.Scope{scope}}, f
}

// ScopesToSearch are the scopes of an audience. One empty scope stands for the whole tenant.
func ScopesToSearch(audience domain.Audience) []domain.Scope {
	if audience.Everything {
		return []domain.Scope{""}
	}
	return audience.Scopes
}

// Listed is the knowledge table as k, read by the index of what a filter asks for, if there is one.
func (p Reader) Listed(f domain.Filter) bun.Safe {
	if index, _ := SelectiveIndex(f); index != "" && f.Owner == "" {
		return p.IndexHint(index)
	}
	return bun.Safe(p.Tables.Knowledge.String() + " AS k")
}

// IndexHint is the knowledge table as k, read by a partial index. SQLite needs the hint: it may prefer an index of
// all items that also begins with the tenant. PostgreSQL decides by its statistics.
func (p Reader) IndexHint(index string) bun.Safe {
	table := p.Tables.Knowledge
	name := string(table.Name) + "_" + index
	if p.DB.Engine == database.Postgres || table.String() != string(table.Name) ||
		slices.Contains(p.Tables.lackedIndexes, name) {
		return bun.Safe(fmt.Sprintf("%s AS k", table))
	}
	return bun.Safe(fmt.Sprintf("%s AS k INDEXED BY %s", table, name))
}

// ConfidenceAt is an item's confidence at the time ?0.
const ConfidenceAt = "CASE WHEN k.confirm_until <= ?0 THEN k.expired_confidence ELSE k.confidence END"

// ReportersAt counts the reports of staleness at the time ?0.
const ReportersAt = "(k.stale_reporters + CASE WHEN k.confirm_until <= ?0 THEN k.suspended_reporters ELSE 0 END)"

// MayBeStale holds for items that were reported stale, or were confirmed until a date.
const MayBeStale = "(k.stale_reporters > 0 OR k.confirm_until IS NOT NULL)"

// Judged holds for items that may have another confidence than a new one, votes against, a confirmation or a report.
const Judged = "(k.version > 1 OR k.harmful > 0 OR k.confidence <> 0.5)"

// SelectiveIndex names the partial index that has the items that a filter asks for and few others, and its condition
// on k. Both are empty if there is none.
func SelectiveIndex(f domain.Filter) (index, condition string) {
	only := func(statuses ...domain.Status) bool {
		return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses,
			func(s domain.Status) bool { return !slices.Contains(statuses, s) })
	}
	switch {
	case only(domain.IsDeleted, domain.IsErased):
		return "gone", "k." + Gone
	case only(domain.IsQuarantined, domain.IsProposed):
		return "withheld", "k." + Withheld
	case only(domain.IsSuperseded):
		return "replaced", "k.superseded_by <> ''"
	case f.Stale != nil && *f.Stale, f.Expired != nil && *f.Expired:
		return "stale", MayBeStale
	}
	return "", ""
}
