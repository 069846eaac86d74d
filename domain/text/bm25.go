package text

import "math"

// The constants of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
// They were chosen by measuring retrieval over notes of a sentence to a page: repetition and length count little.
const (
	BM25K1 = 0.9
	BM25B  = 0.3
)

// IDF is the inverse document frequency of a term that containing of items have. It is always positive. A term
// without items counts as if one item had it, so that in a small collection an absent word does not spoil a query.
func IDF(items, containing int) float64 {
	containing = max(containing, 1)
	items = max(items, containing)
	return math.Log1p((float64(items-containing) + 0.5) / (float64(containing) + 0.5))
}

// Saturation is the weight of a term's count in a text of the given length, in units of its IDF. It is 1 for a term
// that occurs once in a text of average length, and at most 1+BM25K1. Above the average, the logarithm of the length
// counts. Otherwise, a manual among notes of ten words would hardly be found by any of its words (Lv and Zhai, "When
// Documents Are Very Long, BM25 Fails!", 2011). It grows with the count, and never with the length: the index of words
// derives from this which items cannot be among the best.
func Saturation(count, length int, averageLength float64) float64 {
	relative := 1.0
	if averageLength > 0 {
		relative = float64(length) / averageLength
	}
	if relative > 1 {
		relative = 1 + math.Log(relative)
	}
	n := float64(count)
	return n * (BM25K1 + 1) / (n + BM25K1*(1-BM25B+BM25B*relative))
}

// WordScore maps a BM25 sum to 0…1, whatever the size of the collection. 0.5, "about this", is half of the sum of an
// average text with every word of the query. attainable is the sum of weight times IDF over all terms of the query,
// found or not.
func WordScore(sum, attainable float64) float64 {
	if sum <= 0 || attainable <= 0 {
		return 0
	}
	share := sum / attainable
	share *= math.Sqrt(share) // its power of 1.5
	return share / (share + 0.5*math.Sqrt(0.5))
}

// WordShare is the share of the attainable sum that [WordScore] maps to a score below 1.
func WordShare(score float64) float64 {
	return 0.5 * math.Pow(score/(1-min(score, 0.9999)), 2/3.0)
}

// Attainable is what a term that no item has adds to the sum that an answer could reach, as a share of its IDF. Two of
// three pairs of Han characters span words, and no item has them whatever it says.
func Attainable(term string, found bool) float64 {
	share, han := content(term)
	if found || !han {
		return 1
	}
	return math.Floor(share) / 3
}
