package words

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// Accumulator collects which items contain the terms of a question. Items are numbered as they come, so that
// counting needs a map once for an item and not once for a term.
type Accumulator struct {
	Terms  []text.QueryTerm
	hashes []uint64
	hex    []string // of the hashes

	at    map[int64]int32 // where an item stands
	Items []scoredItem
	Found [][]occurrence // of each term, some of them twice
	total int            // how often any of them stands in any scope
}

// scoredItem is an item with at least one of the terms.
type scoredItem struct {
	Number int64
	Words  int
	Tier   domain.Tier // the nearest of its scopes in the audience
	score  float64
}

// occurrence says how often an item contains a term.
type occurrence struct {
	Item  int32
	Count int
}

func NewAccumulator(terms []text.QueryTerm) *Accumulator {
	t := &Accumulator{Terms: terms, at: map[int64]int32{}, Found: make([][]occurrence, len(terms))}
	for _, term := range terms {
		hash := HashOf(term.Term)
		t.hashes = append(t.hashes, hash)
		t.hex = append(t.hex, fmt.Sprintf("%0*x", hashDigits, hash))
	}
	return t
}

func (t *Accumulator) item(number int64, words int, tier domain.Tier) int32 {
	i, known := t.at[number]
	if !known {
		i = int32(len(t.Items))
		t.at[number] = i
		t.Items = append(t.Items, scoredItem{Number: number, Words: words, Tier: tier})
	}
	t.Items[i].Tier = min(t.Items[i].Tier, tier)
	return i
}

// termCounts counts a term, by its hash in either form.
type termCounts interface {
	countOf(hash uint64, hex string) int
}

func (t *Accumulator) addPacked(number int64, words int, tier domain.Tier, bag termCounts) {
	item := int32(-1)
	for term, hash := range t.hashes {
		count := bag.countOf(hash, t.hex[term])
		if count == 0 {
			continue
		}
		if item < 0 {
			item = t.item(number, words, tier)
		}
		t.Found[term] = append(t.Found[term], occurrence{item, count})
		t.total++
	}
}

// AddPostings reads postings of one tier, "NUMBER:WORDS AND COUNT" joined by semicolons, if there are any.
func (t *Accumulator) AddPostings(term int, tier domain.Tier, listed []byte) error {
	for rest := listed; len(rest) > 0; {
		var number, said int64
		var ends [2]bool
		number, rest, ends[0] = leading(rest, ':')
		said, rest, ends[1] = leading(rest, ';')
		if ends != [2]bool{true, true} {
			return fmt.Errorf("read postings: %.100q is no list", listed)
		}
		item := t.item(number, int(said>>CountBits), tier)
		t.Found[term] = append(t.Found[term], occurrence{item, int(said & (1<<CountBits - 1))})
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
func (t *Accumulator) keepNewest(most int) {
	all := t.Items
	t.Items, t.at, t.total = nil, map[int64]int32{}, 0
	for term, found := range t.Found {
		numbers := make([]int64, len(found))
		for i, o := range found {
			numbers[i] = all[o.Item].Number
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		numbers = numbers[max(0, len(numbers)-most):]
		newest := found[:0]
		for _, o := range found {
			if it := all[o.Item]; it.Number >= numbers[0] {
				newest = append(newest, occurrence{t.item(it.Number, it.Words, it.Tier), o.Count})
			}
		}
		t.Found[term] = newest
		t.total += len(newest)
	}
}

// deduplicate leaves each item once with each term.
func (t *Accumulator) deduplicate() {
	last := make([]int32, len(t.Items))
	for term, found := range t.Found {
		once := found[:0]
		for _, o := range found {
			if last[o.Item] != int32(term+1) {
				last[o.Item] = int32(term + 1)
				once = append(once, o)
			}
		}
		t.Found[term] = once
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

func (p PackedTerms) countOf(hash uint64, _ string) int { return p.Count(hash) }
