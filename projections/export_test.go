package projections

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// What follows lets tests compute, slowly and without an index, what the index should say.

// TermsOf are the terms of an item and how often each counts, and its length in words.
func TermsOf(k *domain.Knowledge) (counts map[string]float64, words int) {
	b := bagOf(k)
	counts = make(map[string]float64, len(b.Terms))
	for i, term := range b.Terms {
		counts[term] = float64(b.Counts[i])
	}
	return counts, b.Words
}

// Rarity, Saturation and WordScore are the parts of the formula by which words score.
func Rarity(items, all int64) float64 { return text.IDF(int(all), int(items)) }

func Saturation(count, words, average float64) float64 {
	return text.Saturation(int(count), int(words), average)
}

func WordScore(score, attainable float64) float64 { return text.WordScore(score, attainable) }
