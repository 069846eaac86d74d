package projections

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// wordsDepth is how many candidates by words each tier sends to the ranking.
const wordsDepth = 100

// matches is what the index of words says about a question.
type matches struct {
	terms  []text.QueryTerm
	scores map[int64]float64 // calibrated, by item number
	tiers  map[int64]domain.Tier
	found  map[int64][]string // which terms, when asked to explain
}

// match finds what contains any of the question's terms, within the audience and the filter, and
// scores it by BM25 over what the audience may see: statistics of what is hidden would tell of it.
func (p *Knowledge) match(ctx context.Context, s domain.Search, audience domain.Audience) (*matches, error) {
	m := &matches{
		terms: p.active().tokenizer.Query(s.Text), scores: map[int64]float64{}, tiers: map[int64]domain.Tier{},
	}
	if len(m.terms) == 0 {
		return m, nil
	}
	lists := newLists(m.terms)
	var sizes map[domain.Scope]profile
	err := p.together(ctx, func(ctx context.Context) (err error) {
		sizes, err = p.profiles.of(ctx, p, s.By.Tenant, placesOf(audience))
		return err
	}, func(ctx context.Context) error {
		return p.readAll(ctx, p.reads, []read{p.readWords(s, audience, lists)})
	})
	if err != nil {
		return nil, p.failed(ctx, "search by words", err)
	}
	m.score(lists.all(), total(sizes))
	if s.Explain {
		m.explain(lists.all())
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

// score adds up each item's terms. An item in several scopes of the audience counts once, and
// takes the nearest one's tier.
func (m *matches) score(lists []*list, all profile) {
	byTerm := make([]map[int64]posting, len(m.terms))
	listed := 0
	for _, l := range lists {
		if byTerm[l.term] == nil {
			byTerm[l.term] = make(map[int64]posting, len(l.postings))
		}
		tier := l.scope.Tier()
		if l.scope != "" {
			listed += len(l.postings)
		}
		for _, found := range l.postings {
			byTerm[l.term][found.number] = found
			if known, seen := m.tiers[found.number]; !seen || tier < known {
				m.tiers[found.number] = tier
			}
		}
	}
	average := math.Max(1, float64(all.words)/math.Max(1, float64(all.items)))
	items := distinct(all.items, listed, byTerm)
	attainable := 0.0
	for i, term := range m.terms {
		worth := text.IDF(int(items), len(byTerm[i])) * term.Weight
		attainable += worth
		for number, found := range byTerm[i] {
			m.scores[number] += worth * text.Saturation(found.count, found.words, average)
		}
	}
	for number, score := range m.scores {
		m.scores[number] = text.WordScore(score, attainable)
	}
}

// distinct judges how many items scopes hold together, from how often what was found was listed in one
// or the other: a word that every item has would else seem to be in half of them, where every item is
// in two scopes of the audience.
func distinct(items int64, listed int, byTerm []map[int64]posting) int64 {
	found := 0
	for _, postings := range byTerm {
		found += len(postings)
	}
	if listed == 0 {
		return items
	}
	return int64(math.Round(float64(items) * float64(found) / float64(listed)))
}

func (m *matches) explain(lists []*list) {
	m.found = map[int64][]string{}
	slices.SortFunc(lists, func(a, b *list) int { return cmp.Compare(a.term, b.term) })
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
