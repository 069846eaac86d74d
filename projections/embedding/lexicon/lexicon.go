// Package lexicon is a vocabulary with word vectors: English words, and Chinese words in both scripts that refer to
// English ones, so that all are in one space.
//
// Its one rule: the tables are read where they are embedded. Nothing is parsed or copied at the start, and a word that
// nobody looks up costs no memory.
//
// scripts/lexicon.mjs writes the tables, and LICENSE.md names their sources. All integers are little-endian:
//
//   - vectors.bin has a row of Dims bytes (int8) for each English word, the most frequent first: its unit vector
//     times 254.
//   - words.bin has a record for each word: a byte with its length (5 bits) and the number of its references less one
//     (2 bits), its UTF-8 text, and its references. A reference is the number of a row (uint16). An English word
//     refers to its own row, a Chinese one to up to four.
//   - index.bin is an open hash table of 3-byte slots: where the text of a word begins in words.bin, or 0. A word is
//     in the first slot that was free, beginning at its hash: FNV-1a modulo the number of slots.
package lexicon

import (
	_ "embed"
	"iter"
	"math"
	"strings"
	"unicode/utf8"
)

// Dims is the number of dimensions of the space.
const Dims = 100

const (
	slotBytes  = 3
	lengthBits = 5
	longest    = 8 // characters of a Chinese word
	unit       = 1.0 / 254
)

var (
	//go:embed vectors.bin
	vectors []byte
	//go:embed words.bin
	words string
	//go:embed index.bin
	index string
)

// Word is a word of the vocabulary: the place of its text in words.bin. It is valid for the tables of this version
// only, and is not to be stored.
type Word int32

// Find looks up a word in lower case, if need be without a possessive 's.
func Find(word string) (Word, bool) {
	if w, ok := exact(word); ok {
		return w, true
	}
	for _, possessive := range [...]string{"'s", "’s"} {
		if owner, ok := strings.CutSuffix(word, possessive); ok {
			return exact(owner)
		}
	}
	return 0, false
}

func exact(word string) (Word, bool) {
	hash := uint32(2166136261)
	for i := range len(word) {
		hash = (hash ^ uint32(word[i])) * 16777619
	}
	slots := uint32(len(index) / slotBytes)
	for slot := hash % slots; ; slot = (slot + 1) % slots {
		s := index[slotBytes*slot:][:slotBytes]
		w := Word(s[0]) | Word(s[1])<<8 | Word(s[2])<<16
		if w == 0 {
			return 0, false
		}
		if w.String() == word {
			return w, true
		}
	}
}

// String returns the word itself.
func (w Word) String() string {
	return words[w:][:words[w-1]&(1<<lengthBits-1)]
}

// references returns the rows of the word, two bytes each.
func (w Word) references() string {
	head := words[w-1]
	return words[int(w)+int(head&(1<<lengthBits-1)):][:2*(1+head>>lengthBits)]
}

// first returns the number of the row of the first reference.
func first(references string) int { return int(references[0]) | int(references[1])<<8 }

// rowOf returns the row of the first reference.
func rowOf(references string) *[Dims]byte { return (*[Dims]byte)(vectors[first(references)*Dims:]) }

// Vector sets into to the unit vector of the word, whose length is exact to 1 percent. A Chinese word's is the
// normalised mean of those of the English words that it refers to.
func (w Word) Vector(into *[Dims]float32) {
	refs := w.references()
	if len(refs) == 2 {
		row := rowOf(refs)
		for i := range into {
			into[i] = float32(int8(row[i])) * unit
		}
		return
	}
	var sum [Dims]int32
	for ; refs != ""; refs = refs[2:] {
		row := rowOf(refs)
		for i := range sum {
			sum[i] += int32(int8(row[i]))
		}
	}
	var squares int32
	for _, x := range sum {
		squares += x * x
	}
	scale := 1 / float32(math.Sqrt(float64(squares)))
	for i, x := range sum {
		into[i] = float32(x) * scale
	}
}

// Weight is how much the word says, from 0 to 1: a/(a+p) of its probability p, with a = 0.001 (Arora, Liang and Ma,
// "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017). The probability follows from the rank by
// Zipf's law. A Chinese word's weight is the mean of those that it refers to.
func (w Word) Weight() float32 {
	const a, harmonic = 1e-3, 11.6676 // the sum of 1/rank of all rows
	var sum, n float32
	for refs := w.references(); refs != ""; refs = refs[2:] {
		rank := float32(1 + first(refs))
		sum += a / (a + 1/(harmonic*rank))
		n++
	}
	return sum / n
}

// Han cuts a run of Han characters into words: the longest of at most eight characters that the text begins with,
// then the same for the rest. It skips characters that are no word.
func Han(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for s != "" {
			w, size := longestPrefix(s)
			if w != 0 && !yield(w) {
				return
			}
			s = s[size:]
		}
	}
}

// longestPrefix returns the longest Chinese word that s begins with and its length in bytes, or 0 and the length of
// the first character.
func longestPrefix(s string) (Word, int) {
	var ends [longest]int
	n := 0
	for end := 0; n < longest && end < len(s) && s[end] >= utf8.RuneSelf; n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
		ends[n] = end
	}
	for ; n > 0; n-- {
		if w, ok := exact(s[:ends[n-1]]); ok {
			return w, ends[n-1]
		}
	}
	return 0, max(1, ends[0])
}
