package projections

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// tally collects which items contain the terms of a question. Items are numbered as they come, so that
// counting needs a map once for an item and not once for a term.
type tally struct {
	terms  []text.QueryTerm
	hashes []uint64
	hex    []string // of the hashes

	at    map[int64]int32 // where an item stands
	items []tallied
	found [][]occurrence // of each term, some of them twice
	total int            // how often any of them stands in any scope
}

// tallied is an item with at least one of the terms.
type tallied struct {
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

func newTally(terms []text.QueryTerm) *tally {
	t := &tally{terms: terms, at: map[int64]int32{}, found: make([][]occurrence, len(terms))}
	for _, term := range terms {
		hash := hashOf(term.Term)
		t.hashes = append(t.hashes, hash)
		t.hex = append(t.hex, fmt.Sprintf("%0*x", hashDigits, hash))
	}
	return t
}

func (t *tally) item(number int64, words int, tier domain.Tier) int32 {
	i, known := t.at[number]
	if !known {
		i = int32(len(t.items))
		t.at[number] = i
		t.items = append(t.items, tallied{number: number, words: words, tier: tier})
	}
	t.items[i].tier = min(t.items[i].tier, tier)
	return i
}

// bagOfTerms counts a term, by its hash in either form.
type bagOfTerms interface {
	countOf(hash uint64, hex string) int
}

func (t *tally) addBag(number int64, words int, tier domain.Tier, bag bagOfTerms) {
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

// addList reads "number:count:words:tier" parts joined by semicolons, if there are any.
func (t *tally) addList(term int, listed string) error {
	if listed == "" {
		return nil
	}
	for part := range strings.SplitSeq(listed, ";") {
		number, rest, _ := strings.Cut(part, ":")
		count, rest, _ := strings.Cut(rest, ":")
		words, tier, _ := strings.Cut(rest, ":")
		var values [4]int
		var errs [4]error
		for i, value := range [...]string{number, count, words, tier} {
			values[i], errs[i] = strconv.Atoi(value)
		}
		if err := cmp.Or(errs[0], errs[1], errs[2], errs[3]); err != nil {
			return fmt.Errorf("read postings: %w", err)
		}
		item := t.item(int64(values[0]), values[2], domain.Tier(values[3]))
		t.found[term] = append(t.found[term], occurrence{item, values[1]})
		t.total++
	}
	return nil
}

// level leaves of each term's items the newest alone, so many as the index gives of a scope: of bags, all
// were read, so that there are more of them the fewer were moved to the index.
func (t *tally) level(most int) {
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

// settle leaves each item once with each term.
func (t *tally) settle() {
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
	hashDigits = 12
	bagDigits  = 2 * packedTerm
)

// hexed is a packed bag as hexadecimal digits, which are in the same order.
type hexed []byte

func (h hexed) countOf(_ uint64, digits string) int {
	low, high := 0, len(h)/bagDigits
	for low < high {
		middle := (low + high) / 2
		entry := h[middle*bagDigits : (middle+1)*bagDigits]
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

func (p packed) countOf(hash uint64, _ string) int { return p.count(hash) }
