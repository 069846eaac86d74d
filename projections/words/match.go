package words

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

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

// Matches are the items that contain terms of a question and pass its filter. They keep the postings of the terms, and
// score an item when its score is asked for.
type Matches struct {
	Terms []text.QueryTerm

	Named int64 // the item whose id is the question; 0 for none

	hashes     []uint64
	id         uint64     // the term of the item whose id is the question; 0 if no item is named
	blocks     []*matched // in the order of their numbers
	containing []int      // of each term: how many items of the audience have it, whether they pass the filter or not
	counted    int        // the items that the statistics are of
	average    float64    // their length
	worth      []float64  // of each term: its inverse document frequency
	order      []int      // in which terms are added up: those that say most first
	attainable float64    // the sum of an item with every term

	saturations [4][256]float64   // by count and length, for the most common of both
	best        map[int64]float64 // the sums of the last best
	tried       int               // terms that were looked up to find the best
}

// matched is what a search keeps of a block.
type matched struct {
	number  int64
	lists   []list                        // by term
	changed map[uint16]*Entry             // the items that changed since they were indexed
	found   [domain.Tiers]*roaring.Bitmap // the audience's items that pass, by the tier of their nearest scope
}

// Size is how much an audience may see.
type Size struct {
	Items   int     // each once
	Average float64 // length in words; an item in several scopes of the audience counts in each
}

// NewMatches returns empty matches for a question's terms.
func NewMatches(terms []text.QueryTerm) *Matches {
	m := &Matches{Terms: terms, containing: make([]int, len(terms))}
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
	return m, nil
}

// NameByID looks for the item whose id is the question, too.
func (m *Matches) NameByID(question string) {
	m.id = HashOf(idTerm(strings.Trim(question, " \t\r\n\"'`“”.?")))
}

// Score sets the statistics that scores depend on.
func (m *Matches) Score(all Size) {
	m.counted, m.average = all.Items, max(1, all.Average)
	for i, term := range m.Terms {
		m.worth = append(m.worth, text.IDF(all.Items, m.containing[i]))
		m.attainable += m.worth[i] * text.Attainable(term.Term, m.containing[i] > 0)
	}
	m.order = make([]int, len(m.Terms))
	for i := range m.order {
		m.order[i] = i
	}
	slices.SortStableFunc(m.order, func(a, b int) int {
		if m.Terms[a].Beside != m.Terms[b].Beside {
			return a - b // which are last
		}
		return cmp.Compare(m.worth[b], m.worth[a])
	})
	for i := range m.saturations {
		for words := range m.saturations[i] {
			m.saturations[i][words] = text.Saturation(i+1, words, m.average)
		}
	}
}

func (m *Matches) saturation(count, words int) float64 {
	if count <= len(m.saturations) && words < len(m.saturations[0]) {
		return m.saturations[count-1][words]
	}
	return text.Saturation(count, words, m.average)
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
	sum, is := m.best[number]
	if !is {
		counts := make([]int, len(m.Terms))
		sum = m.sum(counts, m.count(number, counts))
	}
	return text.WordScore(sum, m.attainable)
}

// TermsOf are the terms of a question that an item has.
func (m *Matches) TermsOf(number int64) (terms []string) {
	counts := make([]int, len(m.Terms))
	m.count(number, counts)
	for i, count := range counts {
		if count > 0 {
			terms = append(terms, m.Terms[i].Term)
		}
	}
	return terms
}

// count sets how often an item has each term, and returns its length. An item that was not found has none.
func (m *Matches) count(number int64, counts []int) (words int) {
	clear(counts)
	at, found := slices.BinarySearchFunc(m.blocks, number>>blockBits, func(b *matched, number int64) int {
		return cmp.Compare(b.number, number)
	})
	if !found || !m.blocks[at].has(uint16(number)) {
		return 0
	}
	b := m.blocks[at]
	if changed := b.changed[uint16(number)]; changed != nil {
		for i, hash := range m.hashes {
			counts[i] = changed.Count(hash)
		}
		return changed.Words
	}
	for i := range b.lists {
		if r := b.lists[i].reader(); r.to(int(uint16(number))) {
			counts[i], words = r.count, r.words
		}
	}
	return words
}

func (b *matched) has(low uint16) bool {
	return slices.ContainsFunc(b.found[:], func(items *roaring.Bitmap) bool { return items.Contains(uint32(low)) })
}

// sum adds up the terms of an item of so many words.
func (m *Matches) sum(counts []int, words int) (sum float64) {
	for _, term := range m.order {
		if counts[term] > 0 {
			sum = m.plus(sum, term, posting{count: counts[term], words: words})
		}
	}
	return sum
}

// plus adds a term to the sum of an item.
func (m *Matches) plus(sum float64, term int, p posting) float64 {
	if m.Terms[term].Beside && sum == 0 {
		return 0
	}
	return sum + float64(m.worth[term]*m.saturation(p.count, p.words)) // rounded, so that equal items have equal sums
}

// Best are the numbers of the item that the question names, and of the best matches of each tier, the best first.
func (m *Matches) Best(depth int) []int64 {
	var all []scored
	room := rooms.Get().(*sums)
	defer rooms.Put(room)
	for tier := range domain.Tiers {
		r := ranking{Matches: m, depth: depth, sums: room}
		for _, b := range slices.Backward(m.blocks) {
			r.rank(b, b.found[tier])
		}
		all = append(all, r.cut()...)
	}
	slices.SortFunc(all, scored.compare)
	numbers := make([]int64, len(all))
	m.best = make(map[int64]float64, len(all))
	for i, it := range all {
		numbers[i], m.best[it.number] = it.number, it.sum
	}
	if m.Named != 0 {
		isNamed := func(number int64) bool { return number == m.Named }
		numbers = slices.Insert(slices.DeleteFunc(numbers, isNamed), 0, m.Named)
	}
	return numbers
}

// keepPassing leaves only items that pass a filter that sets cannot tell: it reads the rows of the best, and of more of
// them until each tier has enough.
func (p Index) keepPassing(ctx context.Context, s domain.Search, m *Matches) error {
	const deepest = 16 * WordsDepth
	checked := map[int64]bool{}
	isChecked := func(number int64) bool { return checked[number] }
	for depth := WordsDepth; ; depth = min(2*depth, deepest) {
		numbers := slices.DeleteFunc(m.Best(depth), isChecked)
		if depth > WordsDepth && len(slices.DeleteFunc(m.Best(WordsDepth), isChecked)) == 0 || len(numbers) == 0 {
			return nil
		}
		for _, number := range numbers {
			checked[number] = true
		}
		passing, err := p.passing(ctx, s, numbers)
		if err != nil {
			return err
		}
		slices.Sort(passing)
		m.remove(slices.DeleteFunc(numbers, func(number int64) bool {
			_, passes := slices.BinarySearch(passing, number)
			return passes
		}))
	}
}

func (m *Matches) remove(numbers []int64) {
	if slices.Contains(numbers, m.Named) {
		m.Named = 0
	}
	for _, b := range m.blocks {
		for _, number := range numbers {
			if number>>blockBits == b.number {
				for _, items := range b.found {
					items.Remove(uint32(uint16(number)))
				}
			}
		}
	}
}

// AddPacked adds an item that has some of the terms. Items come in the order of their numbers.
func (m *Matches) AddPacked(number int64, words int, bag PackedTerms) {
	if bag.Count(m.id) > 0 {
		m.Named = number
	}
	var terms []uint64
	for i, hash := range m.hashes {
		if count := bag.Count(hash); count > 0 {
			terms = append(terms, hash<<16|uint64(count))
			m.containing[i]++
		}
	}
	if len(terms) == 0 {
		return
	}
	slices.Sort(terms)
	entry := &Entry{ItemTerms: ItemTerms{Words: words}}
	for _, term := range terms {
		entry.PackedTerms = binary.BigEndian.AppendUint64(entry.PackedTerms, term)
	}
	if n := len(m.blocks); n == 0 || m.blocks[n-1].number != number>>blockBits {
		b := &matched{number: number >> blockBits, changed: map[uint16]*Entry{}}
		for tier := range b.found {
			b.found[tier] = roaring.New()
		}
		m.blocks = append(m.blocks, b)
	}
	b := m.blocks[len(m.blocks)-1]
	b.changed[uint16(number)] = entry
	b.found[0].Add(uint32(uint16(number)))
}
