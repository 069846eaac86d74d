package words

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Index is the inverted index of a view.
type Index struct {
	catalogue.View
	Sizes    *ScopeSizes
	Postings int // how many a search reads of a term in a scope
}

// WordsDepth is how many candidates by words each tier sends to the ranking.
const WordsDepth = 100

// Matches are the items that contain terms of a question. Items have consecutive indexes here, so a map is needed
// once per item and not once per term.
type Matches struct {
	Terms     []text.QueryTerm
	Explained map[int64][]string // the terms of each item, if the search explains

	hashes []uint64
	at     map[int64]int32 // the index of an item in items
	items  []scoredItem
	found  [][]occurrence // of each term, some of them twice
	total  int            // occurrences in all scopes, before deduplication
}

// scoredItem is an item with at least one of the terms.
type scoredItem struct {
	number int64
	words  int
	tier   domain.Tier // of the nearest of its scopes in the audience
	score  float64
}

// occurrence is how often an item contains a term.
type occurrence struct {
	item  int32
	count int
}

// NewMatches returns empty matches for a question's terms.
func NewMatches(terms []text.QueryTerm) *Matches {
	m := &Matches{Terms: terms, at: map[int64]int32{}, found: make([][]occurrence, len(terms))}
	for _, term := range terms {
		m.hashes = append(m.hashes, HashOf(term.Term))
	}
	return m
}

// Match finds the items that contain any of the question's terms, within the audience and the filter, and scores them
// by BM25. The statistics are of what the audience may see, or of the filter's scope: others would reveal hidden
// items. A storage-independent match does not depend on whether terms are in packed rows or in the index.
func (p Index) Match(
	ctx context.Context, s domain.Search, audience domain.Audience, storageIndependent bool,
) (*Matches, error) {
	m := NewMatches(p.Version.Tokenizer.Query(s.Text))
	if len(m.Terms) == 0 {
		return m, nil
	}
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	var sizes map[domain.Scope]ScopeSize
	err := p.InParallel(ctx, func(ctx context.Context) (err error) {
		sizes, err = p.Sizes.Of(ctx, p, s.By.Tenant, rows.ScopesToSearch(audience))
		return err
	}, func(ctx context.Context) error { return p.readWords(ctx, s, audience, m) })
	if err != nil {
		return nil, rows.Failed(ctx, "search by words", err)
	}
	if storageIndependent {
		m.keepNewest(p.Postings)
	}
	var all ScopeSize
	for _, size := range sizes {
		all.Items, all.Words = all.Items+size.Items, all.Words+size.Words
	}
	m.Score(all, audience.Everything)
	if s.Explain {
		m.Explain()
	}
	return m, nil
}

// Score adds up each item's terms. An item in several scopes of the audience counts once, in the nearest one's tier.
// The size of a whole tenant already counts each item once.
func (m *Matches) Score(all ScopeSize, everything bool) {
	listed := m.total
	m.deduplicate()
	found := 0
	for _, occurrences := range m.found {
		found += len(occurrences)
	}
	items := all.Items
	if !everything && listed > 0 {
		items = distinct(all.Items, listed, found)
	}
	average := math.Max(1, float64(all.Words)/math.Max(1, float64(all.Items)))
	attainable := 0.0
	for i, term := range m.Terms {
		worth := text.IDF(int(items), len(m.found[i]))
		attainable += worth * text.Attainable(term.Term, len(m.found[i]) > 0)
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

// distinct estimates how many different items several scopes have, from how often the found items were listed in more
// than one. Without it, a term of every item would seem to be in only half of them if each were in two scopes.
func distinct(items int64, listed, found int) int64 {
	return int64(math.Round(float64(items) * float64(found) / float64(listed)))
}

// ScoreOf is an item's calibrated score by words; 0 if it has none of the terms.
func (m *Matches) ScoreOf(number int64) float64 {
	i, found := m.at[number]
	if !found {
		return 0
	}
	return m.items[i].score
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

// Best are the numbers of the best matches of each tier.
func (m *Matches) Best(depth int) []int64 {
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

// item returns the index of an item that was found. If it was found in several scopes, the nearest tier counts.
func (m *Matches) item(number int64, words int, tier domain.Tier) int32 {
	i, known := m.at[number]
	if !known {
		i = int32(len(m.items))
		m.at[number] = i
		m.items = append(m.items, scoredItem{number: number, words: words, tier: tier})
	}
	m.items[i].tier = min(m.items[i].tier, tier)
	return i
}

// AddPacked adds an item's occurrences of the terms. It is called for each of the item's scopes in the audience.
func (m *Matches) AddPacked(number int64, words int, tier domain.Tier, bag PackedTerms) {
	item := int32(-1)
	for term, hash := range m.hashes {
		count := bag.Count(hash)
		if count == 0 {
			continue
		}
		if item < 0 {
			item = m.item(number, words, tier)
		}
		m.found[term] = append(m.found[term], occurrence{item, count})
		m.total++
	}
}

// addPostings reads postings of one tier, "NUMBER:WORDS AND COUNT" joined by semicolons; listed may be empty.
func (m *Matches) addPostings(term int, tier domain.Tier, listed []byte) error {
	for rest := listed; len(rest) > 0; {
		var number, said int64
		var ends [2]bool
		number, rest, ends[0] = leading(rest, ':')
		said, rest, ends[1] = leading(rest, ';')
		if ends != [2]bool{true, true} {
			return fmt.Errorf("read postings: %.100q is no list", listed)
		}
		item := m.item(number, int(said>>countBits), tier)
		m.found[term] = append(m.found[term], occurrence{item, int(said & (1<<countBits - 1))})
		m.total++
	}
	return nil
}

// leading reads the number at the start of a text, up to a mark or the end.
func leading(text []byte, mark byte) (number int64, rest []byte, found bool) {
	for at, c := range text {
		if c == mark {
			return number, text[at+1:], at > 0
		}
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		number = 10*number + int64(c-'0')
	}
	return number, nil, len(text) > 0
}

// keepNewest keeps only each term's newest items, as many as the index gives per scope. Otherwise packed rows, which
// are all read, would give more items the fewer were moved to the index.
func (m *Matches) keepNewest(most int) {
	all := m.items
	m.items, m.at, m.total = nil, map[int64]int32{}, 0
	for term, found := range m.found {
		numbers := make([]int64, len(found))
		for i, o := range found {
			numbers[i] = all[o.item].number
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		numbers = numbers[max(0, len(numbers)-most):]
		newest := found[:0]
		for _, o := range found {
			if it := all[o.item]; it.number >= numbers[0] {
				newest = append(newest, occurrence{m.item(it.number, it.words, it.tier), o.count})
			}
		}
		m.found[term] = newest
		m.total += len(newest)
	}
}

// deduplicate keeps each item once per term.
func (m *Matches) deduplicate() {
	last := make([]int32, len(m.items))
	for term, found := range m.found {
		once := found[:0]
		for _, o := range found {
			if last[o.item] != int32(term+1) {
				last[o.item] = int32(term + 1)
				once = append(once, o)
			}
		}
		m.found[term] = once
	}
}
