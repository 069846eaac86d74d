package projections

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// maxPostings is how many items of a scope are read per term, the newest first. A term that more
// contain says little, so that beyond this it scores what other terms found.
const maxPostings = 5000

// posting says that an item contains a term.
type posting struct {
	number int64
	count  int
	words  int
}

// list is a term's postings in one scope; the scope is empty where every scope is searched at once.
type list struct {
	term     int
	scope    domain.Scope
	postings []posting
}

// lists are the postings of a question's terms, from wherever the words of an item lie.
type lists struct {
	terms []text.QueryTerm
	found map[listKey]*list
}

type listKey struct {
	term  int
	scope domain.Scope
}

func newLists(terms []text.QueryTerm) *lists {
	return &lists{terms: terms, found: map[listKey]*list{}}
}

func (l *lists) add(term int, scope domain.Scope, postings ...posting) {
	key := listKey{term, scope}
	if l.found[key] == nil {
		l.found[key] = &list{term: term, scope: scope}
	}
	l.found[key].postings = append(l.found[key].postings, postings...)
}

func (l *lists) all() []*list {
	all := make([]*list, 0, len(l.found))
	for _, list := range l.found {
		all = append(all, list)
	}
	return all
}

// readWords reads the postings of a question's terms from wherever they lie, in one statement and so
// as of one moment: between two, words could move from one place to the other and be missed.
func (p *Knowledge) readWords(s domain.Search, audience domain.Audience, into *lists) read {
	hashes := make([]uint64, len(into.terms))
	for i, term := range into.terms {
		hashes[i] = hashOf(term.Term)
	}
	query := p.db.NewRaw("?\nUNION ALL\n?", p.fromTerms(s, audience, into.terms), p.fromBags(s, audience))
	return read{query: query, scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		var term int
		var scope string
		var found posting
		var listed, bag sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&term, &scope, &found.number, &found.words, &listed, &bag); err != nil {
				return err
			}
			postings, err := unpack(string(listed))
			if err != nil {
				return err
			}
			into.add(term, domain.Scope(scope), postings...)
			for term, hash := range hashes {
				if found.count = packed(bag).count(hash); found.count > 0 {
					into.add(term, domain.Scope(scope), found)
				}
			}
		}
		return nil
	}}
}

// fromTerms selects, per term and scope, the newest items that the index of terms has: one index scan
// each, which ends at maxPostings. They come packed into one text per list, because a row costs more
// to send than a posting.
func (p *Knowledge) fromTerms(s domain.Search, audience domain.Audience, terms []text.QueryTerm) *bun.RawQuery {
	asked := make([][]any, len(terms))
	for i, term := range terms {
		asked[i] = []any{i, term.Term}
	}
	scopes := audience.Scopes
	newest := p.db.NewSelect().TableExpr("? AS t", p.tables().terms).ColumnExpr("t.number, t.count, t.words").
		Where("t.tenant = ?", s.By.Tenant).Where("t.term = asked.term").Limit(maxPostings)
	if audience.Everything {
		scopes = []domain.Scope{""}
	} else {
		newest = newest.Where("t.scope = place.scope").OrderExpr("t.number DESC")
	}
	places := make([][]any, len(scopes))
	for i, scope := range scopes {
		places[i] = []any{scope}
	}
	return p.db.NewRaw(`
		WITH asked (place, term) AS (VALUES ?),
		     place (scope) AS (VALUES ?)
		SELECT asked.place,
		       place.scope,
		       0 AS number,
		       0 AS words,
		       (SELECT string_agg(newest.number || ':' || newest.count || ':' || newest.words, ';') FROM (?) AS newest) AS listed,
		       NULL AS bag
		FROM asked CROSS JOIN place`,
		tuples(asked), tuples(places), p.passing(newest, "t", s))
}

// fromBags selects the bags of the audience's newer items, whole. The background keeps them few.
func (p *Knowledge) fromBags(s domain.Search, audience domain.Audience) *bun.SelectQuery {
	query := p.db.NewSelect().TableExpr("? AS b", p.tables().scopes).
		Where("b.tenant = ?", s.By.Tenant).Where("b.bag IS NOT NULL")
	scope := "b.scope"
	if audience.Everything {
		scope = "''"
	} else {
		query = query.Where("b.scope IN (?)", bun.List(audience.Scopes))
	}
	return p.passing(query.ColumnExpr("0 AS place, "+scope+", b.number, b.words, NULL AS listed, b.bag"), "b", s)
}

// passing narrows a query over rows of items, under an alias, to those that pass the search's filter.
func (p *Knowledge) passing(query *bun.SelectQuery, alias string, s domain.Search) *bun.SelectQuery {
	if isPlain(s.Filter) {
		return query
	}
	query = query.Join("JOIN ? AS k ON k.tenant = ?.tenant AND k.number = ?.number",
		p.tables().knowledge, bun.Ident(alias), bun.Ident(alias))
	return p.where(query, s.By.Tenant, s.Filter)
}

// unpack reads "number:count:words" parts joined by semicolons, if there are any.
func unpack(listed string) ([]posting, error) {
	if listed == "" {
		return nil, nil
	}
	postings := make([]posting, 0, 1+strings.Count(listed, ";"))
	for part := range strings.SplitSeq(listed, ";") {
		number, rest, _ := strings.Cut(part, ":")
		count, words, _ := strings.Cut(rest, ":")
		var found posting
		var errs [3]error
		found.number, errs[0] = strconv.ParseInt(number, 10, 64)
		found.count, errs[1] = strconv.Atoi(count)
		found.words, errs[2] = strconv.Atoi(words)
		if err := cmp.Or(errs[0], errs[1], errs[2]); err != nil {
			return nil, fmt.Errorf("read postings: %w", err)
		}
		postings = append(postings, found)
	}
	return postings, nil
}
