package compare

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
)

// mostSigned is how many words of an item a signature is made of.
const mostSigned = 6

// Signature are hashes of what an item says: of its whole text, of its first words together, and of each two of them.
// Nearly all items that are not unrelated have the least number of them in common. So hashes find them among many.
//
// The first words are names, then others, by their hashes. Two items that share most of their words share most of the
// first ones, too: a bottom-k sketch (Cohen and Kaplan, "Summarizing Data Using Bottom-k Sketches", 2007).
type Signature struct {
	Hashes []uint64
	Least  int
}

// Signature is the signature of an item.
func (p Prepared) Signature() Signature {
	s := Signature{Hashes: []uint64{Hash(p.plain)}, Least: 1}
	if p.unread {
		return s
	}
	first := p.firstWords()
	if len(first) == mostSigned {
		s.Least = 3 // three words, each two of them
	}
	s.Hashes = append(s.Hashes, Joined(first...))
	for i, word := range first {
		for _, other := range first[:i] {
			s.Hashes = append(s.Hashes, Joined(word, other, 0))
		}
		if len(first) <= mostBare {
			s.Hashes = append(s.Hashes, word)
		}
	}
	return s
}

// firstWords are the hashes of the first words, and of what is measured if there are few, in order.
func (f features) firstWords() (first []uint64) {
	ranks := map[uint64]int{}
	for name := range f.words {
		ranks[Hash(name)] = count(!f.names[name] && !f.places[name])
	}
	for measured := range f.values {
		if measured != "who" && measured != "year" { // as in overlap
			ranks[Hash("#", measured)] = 2
		}
	}
	if len(f.words) <= mostBare {
		for name := range f.opposites {
			ranks[Hash("!", name)] = 2
		}
	}
	first = slices.SortedFunc(maps.Keys(ranks), func(a, b uint64) int {
		return cmp.Or(ranks[a]-ranks[b], cmp.Compare(a, b))
	})
	first = first[:min(len(first), mostSigned)]
	slices.Sort(first)
	return first
}

// Joined hashes hashes.
func Joined(hashes ...uint64) (all uint64) {
	for _, h := range hashes {
		all = (all ^ h) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
		all ^= all >> 32
	}
	return all
}

// Hash hashes some words.
func Hash(words ...string) uint64 {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word)) // never fails
		h.Write([]byte{0})
	}
	return Joined(h.Sum64())
}
