package words

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/text"
)

// Index is the inverted index of a view.
type Index struct {
	catalogue.View
	Sizes    *ScopeSizes
	Postings int // of a term in a scope that a search reads
}

// WordsDepth is how many candidates by words each tier sends to the ranking.
const WordsDepth = 100

// Matches is what the index of words says about a question.
type Matches struct {
	*Accumulator
	Explained map[int64][]string // which terms an item has, when asked to explain
}

// Match finds what contains any of the question's terms, within the audience and the filter, and
// scores it by BM25 over what the audience may see, or over the one scope that the filter names of
// that: statistics of what is hidden would tell of it.
// Wherever asks that it makes no difference which words lie in bags and which in the index.
func (p Index) Match(ctx context.Context, s domain.Search, audience domain.Audience, wherever bool) (*Matches, error) {
	m := &Matches{Accumulator: NewAccumulator(p.Version.Tokenizer.Query(s.Text))}
	if len(m.Terms) == 0 {
		return m, nil
	}
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	var sizes map[domain.Scope]ScopeSize
	err := p.InParallel(ctx, func(ctx context.Context) (err error) {
		sizes, err = p.Sizes.Of(ctx, p, s.By.Tenant, rows.ScopesToSearch(audience))
		return err
	}, func(ctx context.Context) error {
		return rows.ReadAll(ctx, p.DB, p.From, []rows.Read{p.readWords(s, audience, m.Accumulator)})
	})
	if err != nil {
		return nil, rows.Failed(ctx, "search by words", err)
	}
	if wherever {
		m.keepNewest(p.Postings)
	}
	var all ScopeSize
	for _, size := range sizes {
		all.Items, all.Words = all.Items+size.Items, all.Words+size.Words
	}
	m.score(all, audience.Everything)
	if s.Explain {
		m.explain()
	}
	return m, nil
}

// score adds up each item's terms. An item in several scopes of the audience counts once, and
// takes the nearest one's tier. Of everything in a tenant, items are counted once to begin with.
func (m *Matches) score(all ScopeSize, everything bool) {
	listed := m.total
	m.deduplicate()
	found := 0
	for _, occurrences := range m.Found {
		found += len(occurrences)
	}
	items := all.Items
	if !everything && listed > 0 {
		items = Distinct(all.Items, listed, found)
	}
	average := math.Max(1, float64(all.Words)/math.Max(1, float64(all.Items)))
	attainable := 0.0
	for i, term := range m.Terms {
		worth := text.IDF(int(items), len(m.Found[i]))
		attainable += worth
		for _, o := range m.Found[i] {
			it := &m.Items[o.Item]
			if term.Beside && it.score == 0 {
				continue
			}
			it.score += worth * text.Saturation(o.Count, it.Words, average)
		}
	}
	for i := range m.Items {
		m.Items[i].score = text.WordScore(m.Items[i].score, attainable)
	}
}

// Distinct judges how many items scopes hold together, from how often what was found was listed in one
// or the other: a word that every item has would else seem to be in half of them, where every item is
// in two scopes of the audience.
func Distinct(items int64, listed, found int) int64 {
	return int64(math.Round(float64(items) * float64(found) / float64(listed)))
}

// ScoreOf is an item's calibrated score by words, 0 if it has none of them.
func (m *Matches) ScoreOf(number int64) float64 {
	i, found := m.at[number]
	if !found {
		return 0
	}
	return m.Items[i].score
}

func (m *Matches) explain() {
	m.Explained = make(map[int64][]string, len(m.Items))
	for term, occurrences := range m.Found {
		for _, o := range occurrences {
			number := m.Items[o.Item].Number
			m.Explained[number] = append(m.Explained[number], m.Terms[term].Term)
		}
	}
}

// Best are the numbers of the best matches of each tier.
func (m *Matches) Best(depth int) []int64 {
	tiers := map[domain.Tier][]scoredItem{}
	for _, it := range m.Items {
		if it.score > 0 {
			tiers[it.Tier] = append(tiers[it.Tier], it)
		}
	}
	var numbers []int64
	for _, list := range tiers {
		slices.SortFunc(list, func(a, b scoredItem) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Number, a.Number))
		})
		for _, it := range list[:min(depth, len(list))] {
			numbers = append(numbers, it.Number)
		}
	}
	slices.Sort(numbers)
	return numbers
}
