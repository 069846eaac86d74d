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

// readTerms reads, per term and scope, the newest items that the index of terms has: one index scan
// each, which ends at maxPostings. They come packed into one text per list, because a row costs more
// to send than a posting.
func (p *Knowledge) readTerms(s domain.Search, audience domain.Audience, into *lists) read {
	asked := make([][]any, len(into.terms))
	for i, term := range into.terms {
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
	query := p.db.NewRaw(`
		WITH asked (place, term) AS (VALUES ?),
		     place (scope) AS (VALUES ?)
		SELECT asked.place,
		       place.scope,
		       (SELECT string_agg(newest.number || ':' || newest.count || ':' || newest.words, ';') FROM (?) AS newest)
		FROM asked CROSS JOIN place`,
		tuples(asked), tuples(places), p.passing(newest, "t", s))
	return read{query: query, scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		for rows.Next() {
			var term int
			var scope domain.Scope
			var listed *string
			if err := rows.Scan(&term, &scope, &listed); err != nil {
				return err
			}
			if listed == nil {
				continue
			}
			postings, err := unpack(*listed)
			if err != nil {
				return err
			}
			into.add(term, scope, postings...)
		}
		return nil
	}}
}

// readBags reads the bags of the audience's newer items, whole, and looks the terms up in each. The
// background keeps them few.
func (p *Knowledge) readBags(s domain.Search, audience domain.Audience, into *lists) read {
	hashes := make([]uint64, len(into.terms))
	for i, term := range into.terms {
		hashes[i] = hashOf(term.Term)
	}
	query := p.db.NewSelect().TableExpr("? AS b", p.tables().scopes).ColumnExpr("b.scope, b.number, b.words, b.bag").
		Where("b.tenant = ?", s.By.Tenant).Where("b.bag IS NOT NULL")
	if !audience.Everything {
		query = query.Where("b.scope IN (?)", bun.List(audience.Scopes))
	}
	return read{query: p.passing(query, "b", s), scan: func(_ context.Context, _ *bun.DB, rows *sql.Rows) error {
		var scope string
		var found posting
		var bag sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&scope, &found.number, &found.words, &bag); err != nil {
				return err
			}
			for term, hash := range hashes {
				if found.count = packed(bag).count(hash); found.count == 0 {
					continue
				}
				if audience.Everything {
					scope = ""
				}
				into.add(term, domain.Scope(scope), found)
			}
		}
		return nil
	}}
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

// unpack reads "number:count:words" parts joined by semicolons.
func unpack(listed string) ([]posting, error) {
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
