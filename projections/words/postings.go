package words

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// MaxPostings is how many items of a scope are read per term, the newest first. A term that more items contain
// matters little: beyond the limit it only scores items that other terms found.
const MaxPostings = 5000

// readWords reads the postings of a question's terms from the index and from packed rows, in one statement. Between
// two statements terms could move to the index, and the search would miss them. The rows are narrow, because a column
// costs more than a packed term.
func (p Index) readWords(ctx context.Context, s domain.Search, audience domain.Audience, into *Matches) error {
	query := p.DB.NewRaw("?\nUNION ALL\n?", p.selectPostings(s, audience, into.hashes), p.selectPacked(s, audience))
	found, err := p.From.QueryContext(ctx, query.String())
	if err != nil {
		return err
	}
	defer found.Close()
	var term, words int
	var number int64
	var tier domain.Tier
	var listed sql.RawBytes
	var packed PackedTerms
	for found.Next() {
		if err := found.Scan(&term, &tier, &number, &words, &listed); err != nil {
			return err
		}
		if term != packedRow {
			if err := into.addPostings(term, tier, listed); err != nil {
				return err
			}
			continue
		}
		if !p.IsPostgres() {
			packed = PackedTerms(listed)
		} else if packed, err = hex.AppendDecode(packed[:0], listed); err != nil {
			return err
		}
		into.AddPacked(number, words, tier, packed)
	}
	return found.Err()
}

// packedRow is the number of a term in the rows that are packed rows.
const packedRow = -1

// selectPostings selects, per term and scope, the newest items in the index of terms. Each is one index scan, which
// ends at MaxPostings. A list is one text with two numbers per posting, because the driver needs longer for a row or
// a number than for parsing.
func (p Index) selectPostings(s domain.Search, audience domain.Audience, hashes []uint64) *bun.RawQuery {
	asked := make([][]any, len(hashes))
	for i, hash := range hashes {
		asked[i] = []any{i, int64(hash)}
	}
	newest := p.DB.NewSelect().TableExpr("? AS t", p.Tables.Terms).ColumnExpr("t.number, t.count, t.words").
		Where("t.tenant = ?", s.By.Tenant).Where("t.term = asked.term").Limit(int64(p.Postings))
	var places [][]any
	if audience.Everything { // each tier separately, so that a frequent term does not hide the nearest
		for _, prefix := range tierPrefixes {
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
		       (SELECT string_agg(newest.number || ':' || ((CAST(newest.words AS BIGINT) << ?) | newest.count), ';')
		        FROM (?) AS newest) AS said
		FROM asked CROSS JOIN place`,
		rows.Tuples(asked), rows.Tuples(places), countBits, p.passing(newest, "t", s))
}

// countBits is the width of a term's count in a posting's second number; the bits above it are the item's length in
// words.
const countBits = 24

// selectPacked selects the whole packed rows of the audience. The Compactor keeps them few.
func (p Index) selectPacked(s domain.Search, audience domain.Audience) *bun.SelectQuery {
	query := p.DB.NewSelect().TableExpr("?", PackedIndexHint(p.DB.Engine, p.Tables, "b")).
		Where("b.tenant = ?", s.By.Tenant).Where("b.bag IS NOT NULL")
	if !audience.Everything {
		query = query.Where("b.scope IN (?)", bun.List(audience.Scopes))
	}
	bag := "b.bag"
	if p.IsPostgres() { // in one column with the texts of postings
		bag = "encode(b.bag, 'hex')"
	}
	return p.passing(query.ColumnExpr("?, "+tierOfScope+", b.number, b.words, "+bag, packedRow), "b", s)
}

// PackedIndexHint is the table of scopes, under an alias, read by the index of packed rows. Without the hint SQLite
// would scan every item of a tenant.
func PackedIndexHint(engine database.Engine, t rows.Tables, alias string) bun.Safe {
	table := string(t.Scopes) + " AS " + alias
	if engine == database.SQLite {
		table += " INDEXED BY " + string(t.Scopes) + "_bags"
	}
	return bun.Safe(table)
}

// tierPrefixes are the prefixes of the scopes of each tier.
var tierPrefixes = [...]string{"user:", "project:", "agent:", "team:", "org:", string(domain.Public)}

// tierOfScope computes the tier of b's column scope by its first two letters, which differ between tiers.
var tierOfScope = func() string {
	query := []byte("CASE substr(b.scope, 1, 2)")
	for _, prefix := range tierPrefixes {
		query = fmt.Appendf(query, " WHEN '%s' THEN %d", prefix[:2], domain.Scope(prefix).Tier())
	}
	return string(query) + " END"
}()

// passing narrows a query over rows of items, under an alias, to those that pass the search's filter.
func (p Index) passing(query *bun.SelectQuery, alias string, s domain.Search) *bun.SelectQuery {
	if rows.IsPlain(s.Filter) {
		return query
	}
	query = query.Join("JOIN ? AS k ON k.tenant = ?.tenant AND k.number = ?.number",
		p.Tables.Knowledge, bun.Ident(alias), bun.Ident(alias))
	return p.Where(query, s.By.Tenant, s.Filter)
}
