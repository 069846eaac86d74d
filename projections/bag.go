package projections

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// bag is an item as a search by words sees it: which terms it contains, and how often.
type bag struct {
	Terms  []string // sorted, each once
	Counts []int    // of the term at the same place
	Words  int      // the length that BM25 normalises by
}

// bagOf counts the terms of everything in an item that a search should find it by.
func bagOf(by text.Tokenizer, k *domain.Knowledge) bag {
	said := k.Text.Content + "\n\n" + k.Text.Task + "\n\n" + strings.Join(tagValues(k.Text.Tags), "\n\n")
	found := by.Bag(said)
	return bag{Terms: found.Terms, Counts: found.Counts, Words: found.Length}
}

func tagValues(tags domain.Tags) []string {
	var values []string
	for _, list := range tags {
		values = append(values, list...)
	}
	slices.Sort(values)
	return values
}

// maxBagTerms is how many terms are kept packed beside an item's scope. What has more goes into the
// index of terms at once: a search reads whole bags.
const maxBagTerms = 256

// packed is a bag in 8 bytes a term: 6 of the term's hash and 2 of its count, big-endian, sorted. Two
// terms of one question and one item share a hash once in 10¹² times.
type packed []byte

const packedTerm = 8

// hashOf is what stands for a term in a packed bag: 48 bits of its FNV-1a hash.
func hashOf(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h >> 16
}

// pack packs a bag; false if it is too large for that.
func (b bag) pack() (packed, bool) {
	if len(b.Terms) > maxBagTerms {
		return nil, false
	}
	return b.packAll(), true
}

// packAll packs a bag, however large it is.
func (b bag) packAll() packed {
	entries := make([]uint64, len(b.Terms))
	for i, term := range b.Terms {
		entries[i] = hashOf(term)<<16 | uint64(min(b.Counts[i], math.MaxUint16))
	}
	slices.Sort(entries)
	bytes := make(packed, 0, packedTerm*len(entries))
	for _, entry := range entries {
		bytes = binary.BigEndian.AppendUint64(bytes, entry)
	}
	return bytes
}

// count is how often the term with this hash occurs.
func (p packed) count(hash uint64) int {
	low, high := 0, len(p)/packedTerm
	for low < high {
		middle := (low + high) / 2
		entry := binary.BigEndian.Uint64(p[middle*packedTerm:])
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
func (p packed) each(yield func(hash uint64, count int)) {
	for ; len(p) >= packedTerm; p = p[packedTerm:] {
		entry := binary.BigEndian.Uint64(p)
		yield(entry>>16, int(entry&math.MaxUint16))
	}
}
