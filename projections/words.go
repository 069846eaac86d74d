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
	*accumulator
	explained map[int64][]string // which terms an item has, when asked to explain
}

// match finds what contains any of the question's terms, within the audience and the filter, and
// scores it by BM25 over what the audience may see, or over the one scope that the filter names of
// that: statistics of what is hidden would tell of it.
// Wherever asks that it makes no difference which words lie in bags and which in the index.
func (p *Knowledge) match(ctx context.Context, s domain.Search, audience domain.Audience, wherever bool) (*matches, error) {
	m := &matches{accumulator: newAccumulator(p.active().tokenizer.Query(s.Text))}
	if len(m.terms) == 0 {
		return m, nil
	}
	audience, s.Filter = narrowed(s.Filter, audience)
	var sizes map[domain.Scope]scopeSize
	err := p.inParallel(ctx, func(ctx context.Context) (err error) {
		sizes, err = p.scopeSizes.of(ctx, p, s.By.Tenant, scopesToSearch(audience))
		return err
	}, func(ctx context.Context) error {
		return p.readAll(ctx, p.reads, []read{p.readWords(s, audience, m.accumulator)})
	})
	if err != nil {
		return nil, p.failed(ctx, "search by words", err)
	}
	if wherever {
		m.keepNewest(p.postings)
	}
	m.score(total(sizes), audience.Everything)
	if s.Explain {
		m.explain()
	}
	return m, nil
}

func total(sizes map[domain.Scope]scopeSize) scopeSize {
	var sum scopeSize
	for _, size := range sizes {
		sum.items += size.items
		sum.words += size.words
	}
	return sum
}

// score adds up each item's terms. An item in several scopes of the audience counts once, and
// takes the nearest one's tier. Of everything in a tenant, items are counted once to begin with.
func (m *matches) score(all scopeSize, everything bool) {
	listed := m.total
	m.deduplicate()
	found := 0
	for _, occurrences := range m.found {
		found += len(occurrences)
	}
	items := all.items
	if !everything && listed > 0 {
		items = distinct(all.items, listed, found)
	}
	average := math.Max(1, float64(all.words)/math.Max(1, float64(all.items)))
	attainable := 0.0
	for i, term := range m.terms {
		worth := text.IDF(int(items), len(m.found[i]))
		attainable += worth
		for _, o := range m.found[i] {
			it := &m.items[o.item]
			if term.Beside && it.score == 0 {
				continue
			}
			it.score += worth * text.Saturation(o.count, it.words, average)
		}
	}
	for i := range m.items {
		m.items[i].score = text.WordScore(m.items[i].score, attainable)
	}
}

// distinct judges how many items scopes hold together, from how often what was found was listed in one
// or the other: a word that every item has would else seem to be in half of them, where every item is
// in two scopes of the audience.
func distinct(items int64, listed, found int) int64 {
	return int64(math.Round(float64(items) * float64(found) / float64(listed)))
}

// scoreOf is an item's calibrated score by words, 0 if it has none of them.
func (m *matches) scoreOf(number int64) float64 {
	i, found := m.at[number]
	if !found {
		return 0
	}
	return m.items[i].score
}

func (m *matches) explain() {
	m.explained = make(map[int64][]string, len(m.items))
	for term, occurrences := range m.found {
		for _, o := range occurrences {
			number := m.items[o.item].number
			m.explained[number] = append(m.explained[number], m.terms[term].Term)
		}
	}
}

// best are the numbers of the best matches of each tier.
func (m *matches) best(depth int) []int64 {
	tiers := map[domain.Tier][]scoredItem{}
	for _, it := range m.items {
		if it.score > 0 {
			tiers[it.tier] = append(tiers[it.tier], it)
		}
	}
	var numbers []int64
	for _, list := range tiers {
		slices.SortFunc(list, func(a, b scoredItem) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number))
		})
		for _, it := range list[:min(depth, len(list))] {
			numbers = append(numbers, it.number)
		}
	}
	slices.Sort(numbers)
	return numbers
}
