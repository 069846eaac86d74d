package words

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/text"
)

// MaxPostings is how many items of a scope are read per term, the newest first. A term that more
// contain says little, so that beyond this it scores what other terms found.
const MaxPostings = 5000

// readWords reads the postings of a question's terms from wherever they lie, in one statement and so
// as of one moment: between two, words could move from one place to the other and be missed. The rows are
// narrow, because a column of a row costs more than a term of a bag.
func (p Index) readWords(s domain.Search, audience domain.Audience, into *Accumulator) rows.Read {
	query := p.DB.NewRaw("?\nUNION ALL\n?", p.selectPostings(s, audience, into.Terms), p.selectPacked(s, audience))
	return rows.Read{Query: query, Scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		var term, words int
		var number int64
		var tier domain.Tier
		var said sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&term, &tier, &number, &words, &said); err != nil {
				return err
			}
			if term != packedRow {
				if err := into.AddPostings(term, tier, said); err != nil {
					return err
				}
				continue
			}
			if p.DB.Engine == database.Postgres {
				into.addPacked(number, words, tier, hexTerms(said))
			} else {
				into.addPacked(number, words, tier, PackedTerms(said))
			}
		}
		return nil
	}}
}

// packedRow stands in the place of a term where a row has a bag.
const packedRow = -1

// selectPostings selects, per term and scope, the newest items that the index of terms has: one index scan
// each, which ends at maxPostings. They come packed into one text per list, because a row costs more
// to send than a posting, and two numbers a posting, because each costs more than to take it apart.
func (p Index) selectPostings(s domain.Search, audience domain.Audience, terms []text.QueryTerm) *bun.RawQuery {
	asked := make([][]any, len(terms))
	for i, term := range terms {
		asked[i] = []any{i, term.Term}
	}
	newest := p.DB.NewSelect().TableExpr("? AS t", p.Tables.Terms).ColumnExpr("t.number, t.count, t.words").
		Where("t.tenant = ?", s.By.Tenant).Where("t.term = asked.term").Limit(int64(p.Postings))
	var places [][]any
	if audience.Everything { // each tier is read by itself, so that a term of many items does not hide the nearest
		for _, prefix := range prefixes() {
			places = append(places, []any{prefix, prefix + "\U0010FFFF", int(domain.Scope(prefix).Tier())})
		}
		newest = newest.Where("t.scope >= place.low").Where("t.scope < place.high")
	} else {
		for _, scope := range audience.Scopes {
			places = append(places, []any{string(scope), "", int(scope.Tier())})
		}
		newest = newest.Where("t.scope = place.low").OrderExpr("t.number DESC")
	}
	return p.DB.NewRaw(`
		WITH asked (place, term) AS (VALUES ?),
		     place (low, high, tier) AS (VALUES ?)
		SELECT asked.place,
		       place.tier,
		       0 AS number,
		       0 AS words,
		       (SELECT string_agg(newest.number || ':' || ((CAST(newest.words AS BIGINT) << ?) | newest.count), ';') FROM (?) AS newest) AS said
		FROM asked CROSS JOIN place`,
		rows.Tuples(asked), rows.Tuples(places), CountBits, p.passing(newest, "t", s))
}

// CountBits are the bits of a posting's second number that say how often the term occurs; those before say how many
// words the item has.
const CountBits = 24

// selectPacked selects the bags of the audience's newer items, whole. The background keeps them few.
func (p Index) selectPacked(s domain.Search, audience domain.Audience) *bun.SelectQuery {
	query := p.DB.NewSelect().TableExpr("?", packedIndexHint(p.DB.Engine, p.Tables, "b")).
		Where("b.tenant = ?", s.By.Tenant).Where("b.bag IS NOT NULL")
	if !audience.Everything {
		query = query.Where("b.scope IN (?)", bun.List(audience.Scopes))
	}
	bag := "b.bag"
	if p.DB.Engine == database.Postgres { // as it would be sent anyway, and can be searched
		bag = "encode(b.bag, 'hex')"
	}
	return p.passing(query.ColumnExpr("?, "+tierOf("b.scope")+", b.number, b.words, "+bag, packedRow), "b", s)
}

// packedIndexHint is the table of scopes, under an alias, to be read by the index of bags, which are few: SQLite
// would look at every item of a tenant.
func packedIndexHint(engine database.Engine, t rows.Tables, alias string) bun.Safe {
	table := string(t.Scopes) + " AS " + alias
	if engine == database.SQLite {
		table += " INDEXED BY " + string(t.Scopes) + "_bags"
	}
	return bun.Safe(table)
}

// prefixes are how the scopes of each tier begin.
func prefixes() []string {
	return []string{"user:", "project:", "agent:", "team:", "org:", string(domain.Public)}
}

// tierOf computes the tier of a column with a scope: two letters tell them apart.
func tierOf(column string) string {
	var query strings.Builder
	query.WriteString("CASE substr(" + column + ", 1, 2)")
	for _, prefix := range prefixes() {
		fmt.Fprintf(&query, " WHEN '%s' THEN %d", prefix[:2], domain.Scope(prefix).Tier())
	}
	return query.String() + " END"
}

// passing narrows a query over rows of items, under an alias, to those that pass the search's filter.
func (p Index) passing(query *bun.SelectQuery, alias string, s domain.Search) *bun.SelectQuery {
	if rows.IsPlain(s.Filter) {
		return query
	}
	query = query.Join("JOIN ? AS k ON k.tenant = ?.tenant AND k.number = ?.number",
		p.Tables.Knowledge, bun.Ident(alias), bun.Ident(alias))
	return p.Where(query, s.By.Tenant, s.Filter)
}
