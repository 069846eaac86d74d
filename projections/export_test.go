package projections

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/words"
	"github.com/annals-kb/annals/text"
)

// TermsOf lets tests compute without an index what the index should say: the terms of an item and
// how often each counts, and its length in words.
func TermsOf(k *domain.Knowledge) (counts map[string]float64, itsWords int) {
	terms, itsWords := words.Tokenize(text.Tokenizers()[0], k)
	counts = make(map[string]float64, len(terms))
	for _, term := range terms {
		counts[term]++
	}
	return counts, itsWords
}

// HashOf and EachTerm read what a bag holds.
func HashOf(term string) uint64 { return words.HashOf(term) }

func EachTerm(bag []byte, each func(hash uint64, count int)) { words.PackedTerms(bag).Each(each) }
