package projections

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// maxPostings is how many items of a scope are read per term, the newest first. A term that more
// contain says little, so that beyond this it scores what other terms found.
const maxPostings = 5000

// wordsDepth is how many candidates by words each tier sends to the ranking.
const wordsDepth = 100

// matches is what the index of words says about a question.
type matches struct {
	terms  []text.QueryTerm
	scores map[int64]float64 // calibrated, by item number
	tiers  map[int64]domain.Tier
	found  map[int64][]string // which terms, when asked to explain
}

// posting says that an item contains a term.
type posting struct {
	number int64
	count  float64
	words  float64
}

// list is a term's postings in one scope.
type list struct {
	term     int
	scope    domain.Scope
	postings []posting
}

// match finds what contains any of the question's terms, within the audience and the filter, and
// scores it by BM25 over what the audience may see: statistics of what is hidden would tell of it.
func (p *Knowledge) match(ctx context.Context, s domain.Search, audience domain.Audience, sizes map[domain.Scope]profile) (*matches, error) {
	m := &matches{
		terms: text.Query(s.Text), scores: map[int64]float64{}, tiers: map[int64]domain.Tier{},
	}
	if len(m.terms) == 0 {
		return m, nil
	}
	lists, err := p.postings(ctx, s, audience, m.terms)
	if err != nil {
		return nil, p.failed(ctx, "search by words", err)
	}
	m.score(lists, total(sizes))
	if s.Explain {
		m.explain(lists)
	}
	return m, nil
}

func total(sizes map[domain.Scope]profile) profile {
	var sum profile
	for _, size := range sizes {
		sum.items += size.items
		sum.words += size.words
	}
	return sum
}

// postings reads, per term and scope, the newest items that contain it: one index scan each, which
// ends at maxPostings. They come packed into one text per list, because a row costs more to send
// than a posting.
func (p *Knowledge) postings(ctx context.Context, s domain.Search, audience domain.Audience, terms []text.QueryTerm) ([]list, error) {
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
	if !isPlain(s.Filter) {
		newest = p.where(newest.Join("JOIN ? AS k ON k.tenant = t.tenant AND k.number = t.number", p.tables().knowledge),
			s.By.Tenant, s.Filter)
	}
	places := make([][]any, len(scopes))
	for i, scope := range scopes {
		places[i] = []any{scope}
	}
	rows, err := p.db.QueryContext(ctx, `
		WITH asked (place, term) AS (VALUES ?),
		     place (scope) AS (VALUES ?)
		SELECT asked.place,
		       place.scope,
		       (SELECT string_agg(newest.number || ':' || newest.count || ':' || newest.words, ';') FROM (?) AS newest)
		FROM asked CROSS JOIN place`,
		tuples(asked), tuples(places), newest)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lists []list
	for rows.Next() {
		var found list
		var packed *string
		if err := rows.Scan(&found.term, &found.scope, &packed); err != nil {
			return nil, err
		}
		if packed == nil {
			continue
		}
		if found.postings, err = unpack(*packed); err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return lists, rows.Err()
}

// unpack reads "number:count:words" parts joined by semicolons.
func unpack(packed string) ([]posting, error) {
	postings := make([]posting, 0, 1+strings.Count(packed, ";"))
	for part := range strings.SplitSeq(packed, ";") {
		number, rest, _ := strings.Cut(part, ":")
		count, words, _ := strings.Cut(rest, ":")
		var found posting
		var errs [3]error
		found.number, errs[0] = strconv.ParseInt(number, 10, 64)
		found.count, errs[1] = strconv.ParseFloat(count, 64)
		found.words, errs[2] = strconv.ParseFloat(words, 64)
		if err := cmp.Or(errs[0], errs[1], errs[2]); err != nil {
			return nil, fmt.Errorf("read postings: %w", err)
		}
		postings = append(postings, found)
	}
	return postings, nil
}

// score adds up each item's terms. An item in several scopes of the audience counts once, and
// takes the nearest one's tier.
func (m *matches) score(lists []list, all profile) {
	byTerm := make([]map[int64]posting, len(m.terms))
	for _, l := range lists {
		if byTerm[l.term] == nil {
			byTerm[l.term] = make(map[int64]posting, len(l.postings))
		}
		tier := l.scope.Tier()
		for _, found := range l.postings {
			byTerm[l.term][found.number] = found
			if known, seen := m.tiers[found.number]; !seen || tier < known {
				m.tiers[found.number] = tier
			}
		}
	}
	average := math.Max(1, float64(all.words)/math.Max(1, float64(all.items)))
	attainable := 0.0
	for i, term := range m.terms {
		worth := text.IDF(int(all.items), len(byTerm[i])) * term.Weight
		attainable += worth
		for number, found := range byTerm[i] {
			m.scores[number] += worth * text.Saturation(int(found.count), int(found.words), average)
		}
	}
	for number, score := range m.scores {
		m.scores[number] = text.WordScore(score, attainable)
	}
}

func (m *matches) explain(lists []list) {
	m.found = map[int64][]string{}
	for _, l := range lists {
		for _, found := range l.postings {
			if term := m.terms[l.term].Term; !slices.Contains(m.found[found.number], term) {
				m.found[found.number] = append(m.found[found.number], term)
			}
		}
	}
}

// best are the numbers of the best matches of each tier.
func (m *matches) best(depth int) []int64 {
	tiers := map[domain.Tier][]int64{}
	for number := range m.scores {
		tiers[m.tiers[number]] = append(tiers[m.tiers[number]], number)
	}
	var numbers []int64
	for _, tier := range tiers {
		slices.SortFunc(tier, func(a, b int64) int {
			return cmp.Or(cmp.Compare(m.scores[b], m.scores[a]), cmp.Compare(b, a))
		})
		numbers = append(numbers, tier[:min(depth, len(tier))]...)
	}
	slices.Sort(numbers)
	return numbers
}
