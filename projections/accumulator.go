package projections

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// accumulator collects which items contain the terms of a question. Items are numbered as they come, so that
// counting needs a map once for an item and not once for a term.
type accumulator struct {
	terms  []text.QueryTerm
	hashes []uint64
	hex    []string // of the hashes

	at    map[int64]int32 // where an item stands
	items []scoredItem
	found [][]occurrence // of each term, some of them twice
	total int            // how often any of them stands in any scope
}

// scoredItem is an item with at least one of the terms.
type scoredItem struct {
	number int64
	words  int
	tier   domain.Tier // the nearest of its scopes in the audience
	score  float64
}

// occurrence says how often an item contains a term.
type occurrence struct {
	item  int32
	count int
}

func newAccumulator(terms []text.QueryTerm) *accumulator {
	t := &accumulator{terms: terms, at: map[int64]int32{}, found: make([][]occurrence, len(terms))}
	for _, term := range terms {
		hash := hashOf(term.Term)
		t.hashes = append(t.hashes, hash)
		t.hex = append(t.hex, fmt.Sprintf("%0*x", hashDigits, hash))
	}
	return t
}

func (t *accumulator) item(number int64, words int, tier domain.Tier) int32 {
	i, known := t.at[number]
	if !known {
		i = int32(len(t.items))
		t.at[number] = i
		t.items = append(t.items, scoredItem{number: number, words: words, tier: tier})
	}
	t.items[i].tier = min(t.items[i].tier, tier)
	return i
}

// termCounts counts a term, by its hash in either form.
type termCounts interface {
	countOf(hash uint64, hex string) int
}

func (t *accumulator) addPacked(number int64, words int, tier domain.Tier, bag termCounts) {
	item := int32(-1)
	for term, hash := range t.hashes {
		count := bag.countOf(hash, t.hex[term])
		if count == 0 {
			continue
		}
		if item < 0 {
			item = t.item(number, words, tier)
		}
		t.found[term] = append(t.found[term], occurrence{item, count})
		t.total++
	}
}

// addPostings reads postings of one tier, "NUMBER:WORDS AND COUNT" joined by semicolons, if there are any.
func (t *accumulator) addPostings(term int, tier domain.Tier, listed []byte) error {
	for rest := listed; len(rest) > 0; {
		var number, said int64
		var ends [2]bool
		number, rest, ends[0] = leading(rest, ':')
		said, rest, ends[1] = leading(rest, ';')
		if ends != [2]bool{true, true} {
			return fmt.Errorf("read postings: %.100q is no list", listed)
		}
		item := t.item(number, int(said>>countBits), tier)
		t.found[term] = append(t.found[term], occurrence{item, int(said & (1<<countBits - 1))})
		t.total++
	}
	return nil
}

// leading reads the number that a text begins with, up to a mark or the end of the text.
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

// keepNewest leaves of each term's items the newest alone, so many as the index gives of a scope: of bags, all
// were read, so that there are more of them the fewer were moved to the index.
func (t *accumulator) keepNewest(most int) {
	all := t.items
	t.items, t.at, t.total = nil, map[int64]int32{}, 0
	for term, found := range t.found {
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
				newest = append(newest, occurrence{t.item(it.number, it.words, it.tier), o.count})
			}
		}
		t.found[term] = newest
		t.total += len(newest)
	}
}

// deduplicate leaves each item once with each term.
func (t *accumulator) deduplicate() {
	last := make([]int32, len(t.items))
	for term, found := range t.found {
		once := found[:0]
		for _, o := range found {
			if last[o.item] != int32(term+1) {
				last[o.item] = int32(term + 1)
				once = append(once, o)
			}
		}
		t.found[term] = once
	}
}

// hashDigits is how many hexadecimal digits a hash in a bag has, and bagDigits a term with its count.
const (
	hashDigits    = 12
	hexTermDigits = 2 * packedTermBytes
)

// hexTerms is a packed bag as hexadecimal digits, which are in the same order.
type hexTerms []byte

func (h hexTerms) countOf(_ uint64, digits string) int {
	low, high := 0, len(h)/hexTermDigits
	for low < high {
		middle := (low + high) / 2
		entry := h[middle*hexTermDigits : (middle+1)*hexTermDigits]
		switch c := strings.Compare(string(entry[:hashDigits]), digits); {
		case c == 0:
			var count [2]byte
			_, _ = hex.Decode(count[:], entry[hashDigits:]) // what PostgreSQL has encoded
			return int(count[0])<<8 | int(count[1])
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0
}

func (p packedTerms) countOf(hash uint64, _ string) int { return p.count(hash) }
