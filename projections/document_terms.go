package projections

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// documentTerms is an item as a search by words sees it: which terms it contains, and how often.
type documentTerms struct {
	Terms  []string // sorted, each once
	Counts []int    // of the term at the same place
	Words  int      // the length that BM25 normalises by
}

// documentTermsOf counts the terms of an item.
func documentTermsOf(by text.Tokenizer, k *domain.Knowledge) documentTerms {
	return countTerms(tokenize(by, k))
}

// tokenize cuts everything in an item that a search should find it by.
func tokenize(by text.Tokenizer, k *domain.Knowledge) (terms []string, words int) {
	return by.Cut(k.Text.Content + "\n\n" + k.Text.Task + "\n\n" + strings.Join(tagValues(k.Text.Tags), "\n\n"))
}

func countTerms(terms []string, words int) documentTerms {
	found := text.CountTerms(terms, words)
	return documentTerms{Terms: found.Terms, Counts: found.Counts, Words: found.Length}
}

func tagValues(tags domain.Tags) []string {
	var values []string
	for _, list := range tags {
		values = append(values, list...)
	}
	slices.Sort(values)
	return values
}

// maxPackedTerms is how many terms are kept packed beside an item's scope. What has more goes into the
// index of terms at once: a search reads whole bags.
const maxPackedTerms = 256

// packedTerms is a bag in 8 bytes a term: 6 of the term's hash and 2 of its count, big-endian, sorted. Two
// terms of one question and one item share a hash once in 10¹² times.
type packedTerms []byte

const packedTermBytes = 8

// hashOf is what stands for a term in a packed bag: 48 bits of its FNV-1a hash.
func hashOf(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h >> 16
}

// packTerms packs terms as they were cut, repeated as often as they occur: to sort their hashes takes a third of
// the time that it takes to sort them.
func packTerms(terms []string) packedTerms {
	hashes := make([]uint64, len(terms))
	for i, term := range terms {
		hashes[i] = hashOf(term)
	}
	slices.Sort(hashes)
	bytes := make(packedTerms, 0, packedTermBytes*len(hashes))
	for len(hashes) > 0 {
		count := 1
		for count < len(hashes) && hashes[count] == hashes[0] {
			count++
		}
		bytes = binary.BigEndian.AppendUint64(bytes, hashes[0]<<16|uint64(min(count, math.MaxUint16)))
		hashes = hashes[count:]
	}
	return bytes
}

// itemTerms is what the tables hold of an item's words: a packed bag or, of a large one, its terms.
type itemTerms struct {
	words  int
	packed packedTerms // nil for a large one
	terms  documentTerms
}

func itemTermsOf(by text.Tokenizer, k *domain.Knowledge) itemTerms {
	terms, words := tokenize(by, k)
	if bag := packTerms(terms); len(bag) <= maxPackedTerms*packedTermBytes {
		return itemTerms{words: words, packed: bag}
	}
	return itemTerms{words: words, terms: countTerms(terms, words)}
}

// count is how often the term with this hash occurs.
func (p packedTerms) count(hash uint64) int {
	low, high := 0, len(p)/packedTermBytes
	for low < high {
		middle := (low + high) / 2
		entry := binary.BigEndian.Uint64(p[middle*packedTermBytes:])
		switch {
		case entry>>16 == hash:
			return int(entry & math.MaxUint16)
		case entry>>16 < hash:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0
}

// each calls yield with every term's hash and count.
func (p packedTerms) each(yield func(hash uint64, count int)) {
	for ; len(p) >= packedTermBytes; p = p[packedTermBytes:] {
		entry := binary.BigEndian.Uint64(p)
		yield(entry>>16, int(entry&math.MaxUint16))
	}
}
