package words

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// DocumentTerms is an item as a search by words sees it: which terms it contains, and how often.
type DocumentTerms struct {
	Terms  []string // sorted, each once
	Counts []int    // of the term at the same place
	Words  int      // the length that BM25 normalises by
}

// DocumentTermsOf counts the terms of an item.
func DocumentTermsOf(by text.Tokenizer, k *domain.Knowledge) DocumentTerms {
	return countTerms(Tokenize(by, k))
}

// Tokenize cuts everything in an item that a search should find it by.
func Tokenize(by text.Tokenizer, k *domain.Knowledge) (terms []string, words int) {
	return by.Cut(k.Text.Content + "\n\n" + k.Text.Task + "\n\n" + strings.Join(TagValues(k.Text.Tags), "\n\n"))
}

func countTerms(terms []string, words int) DocumentTerms {
	found := text.CountTerms(terms, words)
	return DocumentTerms{Terms: found.Terms, Counts: found.Counts, Words: found.Length}
}

func TagValues(tags domain.Tags) []string {
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

// PackedTerms is a bag in 8 bytes a term: 6 of the term's hash and 2 of its count, big-endian, sorted. Two
// terms of one question and one item share a hash once in 10¹² times.
type PackedTerms []byte

const packedTermBytes = 8

// HashOf is what stands for a term in a packed bag: 48 bits of its FNV-1a hash.
func HashOf(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h >> 16
}

// PackTerms packs terms as they were cut, repeated as often as they occur: to sort their hashes takes a third of
// the time that it takes to sort them.
func PackTerms(terms []string) PackedTerms {
	hashes := make([]uint64, len(terms))
	for i, term := range terms {
		hashes[i] = HashOf(term)
	}
	slices.Sort(hashes)
	bytes := make(PackedTerms, 0, packedTermBytes*len(hashes))
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

// ItemTerms is what the tables hold of an item's words: a packed bag or, of a large one, its terms.
type ItemTerms struct {
	Words  int
	Packed PackedTerms // nil for a large one
	Terms  DocumentTerms
}

func ItemTermsOf(by text.Tokenizer, k *domain.Knowledge) ItemTerms {
	terms, words := Tokenize(by, k)
	if bag := PackTerms(terms); len(bag) <= maxPackedTerms*packedTermBytes {
		return ItemTerms{Words: words, Packed: bag}
	}
	return ItemTerms{Words: words, Terms: countTerms(terms, words)}
}

// Count is how often the term with this hash occurs.
func (p PackedTerms) Count(hash uint64) int {
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

// Each calls yield with every term's hash and count.
func (p PackedTerms) Each(yield func(hash uint64, count int)) {
	for ; len(p) >= packedTermBytes; p = p[packedTermBytes:] {
		entry := binary.BigEndian.Uint64(p)
		yield(entry>>16, int(entry&math.MaxUint16))
	}
}
