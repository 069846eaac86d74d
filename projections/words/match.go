package words

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Index is the inverted index of a view.
type Index struct {
	catalogue.View
}

// WordsDepth is how many candidates by words each tier sends to the ranking.
const WordsDepth = 100

// Matches are the items that contain terms of a question and pass its filter. Items are in the order of their numbers.
type Matches struct {
	Terms     []text.QueryTerm
	Explained map[int64][]string // the terms of each item, if the search explains

	Named int64 // the item whose id is the question; 0 for none

	hashes     []uint64
	id         uint64 // the term of the item whose id is the question
	items      []scoredItem
	found      [][]occurrence // of each term
	containing []int          // of each term: how many items of the audience have it, whether they pass the filter or not

	counted    int     // the items that the statistics are of
	attainable float64 // the sum of an item with every term
}

// scoredItem is an item with at least one of the terms.
type scoredItem struct {
	number int64
	score  float64 // the sum of its terms
	words  int32
	tier   uint8 // the [domain.Tier] of the nearest of its scopes in the audience
}

// occurrence is how often an item contains a term.
type occurrence struct {
	item, count int32
}

// Size is how much an audience may see.
type Size struct {
	Items   int     // each once
	Average float64 // length in words; an item in several scopes of the audience counts in each
}

// NewMatches returns empty matches for a question's terms.
func NewMatches(terms []text.QueryTerm) *Matches {
	m := &Matches{Terms: terms, found: make([][]occurrence, len(terms)), containing: make([]int, len(terms))}
	for _, term := range terms {
		m.hashes = append(m.hashes, HashOf(term.Term))
	}
	return m
}

// Match finds the items that contain any of the question's terms, within the audience and the filter, and scores them
// by BM25. The statistics are of what the audience may see, or of the filter's scope: others would reveal hidden
// items. They are exact, and do not depend on what is in blocks.
func (p Index) Match(ctx context.Context, s domain.Search, audience domain.Audience) (*Matches, error) {
	m := NewMatches(p.Version.Tokenizer.Query(s.Text))
	m.NameByID(s.Text)
	if len(m.Terms) == 0 {
		return m, nil
	}
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	groups := p.GroupsOf(s.Filter)
	size, err := p.read(ctx, s.By.Tenant, groups, audience, m)
	if err == nil {
		m.Score(size)
		if !rows.AreToldBySets(s.Filter) {
			err = p.keepPassing(ctx, s, m)
		}
	}
	if err != nil {
		return nil, rows.Failed(ctx, "search by words", err)
	}
	if s.Explain {
		m.Explain()
	}
	return m, nil
}

// NameByID looks for the item whose id is the question, too.
func (m *Matches) NameByID(question string) {
	m.id = HashOf(idTerm(strings.Trim(question, " \t\r\n\"'`“”.?")))
}

// Score adds up each item's terms.
func (m *Matches) Score(all Size) {
	m.counted = all.Items
	average := max(1, all.Average)
	var once [256]float64 // what a term counts that a text of so many words has once, as most are
	for words := range once {
		once[words] = text.Saturation(1, words, average)
	}
	for i, term := range m.Terms {
		worth := text.IDF(all.Items, m.containing[i])
		m.attainable += worth * text.Attainable(term.Term, m.containing[i] > 0)
		for _, o := range m.found[i] {
			it := &m.items[o.item]
			if term.Beside && it.score == 0 {
				continue
			}
			if o.count == 1 && int(it.words) < len(once) {
				it.score += worth * once[it.words]
			} else {
				it.score += worth * text.Saturation(int(o.count), int(it.words), average)
			}
		}
	}
}

// Rarity is the inverse document frequency of a term, and whether any item has it.
func (m *Matches) Rarity(term string) (idf float64, found bool) {
	for i := range m.Terms {
		if m.Terms[i].Term == term {
			return text.IDF(m.counted, m.containing[i]), m.containing[i] > 0
		}
	}
	return text.IDF(m.counted, 0), false
}

// ScoreOf is an item's calibrated score by words; 0 if it has none of the terms.
func (m *Matches) ScoreOf(number int64) float64 {
	i, found := m.at(number)
	if !found {
		return 0
	}
	return text.WordScore(m.items[i].score, m.attainable)
}

// at is the index of an item.
func (m *Matches) at(number int64) (int, bool) {
	return slices.BinarySearchFunc(m.items, number, func(it scoredItem, number int64) int {
		return cmp.Compare(it.number, number)
	})
}

// Explain notes which terms each item has.
func (m *Matches) Explain() {
	m.Explained = make(map[int64][]string, len(m.items))
	for term, occurrences := range m.found {
		for _, o := range occurrences {
			number := m.items[o.item].number
			m.Explained[number] = append(m.Explained[number], m.Terms[term].Term)
		}
	}
}

// Best are the numbers of the item that the question names, and of the best matches of each tier, the best first. It
// keeps a few times as many at most, and sorts only those.
func (m *Matches) Best(depth int) []int64 {
	var tiers [domain.TierPublic + 1][]scoredItem
	var least [domain.TierPublic + 1]float64
	byScore := func(a, b scoredItem) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number))
	}
	cut := func(tier uint8) {
		slices.SortFunc(tiers[tier], byScore)
		if len(tiers[tier]) >= depth {
			tiers[tier] = tiers[tier][:depth]
			least[tier] = tiers[tier][depth-1].score
		}
	}
	for _, it := range m.items {
		if it.score <= 0 || it.score < least[it.tier] {
			continue
		}
		if tiers[it.tier] = append(tiers[it.tier], it); len(tiers[it.tier]) >= 4*depth {
			cut(it.tier)
		}
	}
	for tier := range tiers {
		cut(uint8(tier))
	}
	all := slices.Concat(tiers[:]...)
	slices.SortFunc(all, byScore)
	numbers := make([]int64, 0, len(all)+1)
	if m.Named != 0 {
		numbers = append(numbers, m.Named)
	}
	for _, it := range all {
		if it.number != m.Named {
			numbers = append(numbers, it.number)
		}
	}
	return numbers
}

// keepPassing leaves only items that pass a filter that sets cannot tell: it reads the rows of the best, and of more of
// them until each tier has enough.
func (p Index) keepPassing(ctx context.Context, s domain.Search, m *Matches) error {
	const deepest = 64 * WordsDepth
	checked := map[int64]bool{}
	isChecked := func(number int64) bool { return checked[number] }
	for depth := WordsDepth; ; depth = min(2*depth, deepest) {
		numbers := slices.DeleteFunc(m.Best(depth), isChecked)
		if len(numbers) == 0 || depth > WordsDepth && !slices.ContainsFunc(m.Best(WordsDepth), func(number int64) bool {
			return !checked[number]
		}) {
			return nil
		}
		passing, err := p.passing(ctx, s, numbers)
		if err != nil {
			return err
		}
		slices.Sort(passing)
		for _, number := range numbers {
			checked[number] = true
			if _, passes := slices.BinarySearch(passing, number); !passes {
				m.drop(number)
			}
		}
	}
}

// drop leaves an item out.
func (m *Matches) drop(number int64) {
	if i, found := m.at(number); found {
		m.items[i].score = 0
	}
	if number == m.Named {
		m.Named = 0
	}
}

// AddPacked adds an item that has some of the terms. Items come in the order of their numbers.
func (m *Matches) AddPacked(number int64, words int, tier domain.Tier, bag PackedTerms) {
	if bag.Count(m.id) > 0 {
		m.Named = number
	}
	found := false
	for term, hash := range m.hashes {
		count := bag.Count(hash)
		if count == 0 {
			continue
		}
		if !found {
			found = true
			m.items = append(m.items, scoredItem{number: number, words: int32(words), tier: uint8(tier)})
		}
		m.found[term] = append(m.found[term], occurrence{int32(len(m.items) - 1), int32(count)})
		m.containing[term]++
	}
}
