package projections

import "math"

// Parameters of BM25: how soon more of the same term stops counting, and how much long items are
// discounted. The usual ones (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// rarity is the inverse document frequency of a term that items out of all contain; never negative.
func rarity(items, all int64) float64 {
	all = max(all, items)
	return math.Log(1 + (float64(all-items)+0.5)/(float64(items)+0.5))
}

// saturation is what count occurrences in an item of this length are worth, at most 1.
func saturation(count, words, average float64) float64 {
	return count / (count + bm25K1*(1-bm25B+bm25B*words/average))
}

// calibrateWords maps a BM25 score to 0…1, where 0.5 is "about this". attainable is the score of an
// item that contains every term of the question countless times.
func calibrateWords(score, attainable float64) float64 {
	if attainable <= 0 {
		return 0
	}
	const half = 0.35 // the share of the attainable at which an item is as likely as not about the question
	share := score / attainable
	return share / (share + half)
}
