package projections

import (
	"math"

	"github.com/annals-kb/annals/text"
)

// termOccurrences is where a question's terms occurred, of all that an audience had.
type termOccurrences struct {
	with          [][]occurred // of each term
	found, listed int          // occurrences, and in how many scopes of the audience they were
	scores        map[int64]float64
}

// occurred says that an item had a term.
type occurred struct {
	number       int64
	count, words int
}

// score is BM25 as a search of the present has it; all is what the audience had.
func (w *termOccurrences) score(terms []text.QueryTerm, all scopeSize) {
	w.scores = map[int64]float64{}
	if w.found == 0 {
		return
	}
	average := math.Max(1, float64(all.words)/math.Max(1, float64(all.items)))
	items := int(distinct(all.items, w.listed, w.found))
	attainable := 0.0
	for i, term := range terms {
		worth := text.IDF(items, len(w.with[i]))
		attainable += worth
		for _, o := range w.with[i] {
			if term.Beside && w.scores[o.number] == 0 {
				continue
			}
			w.scores[o.number] += worth * text.Saturation(o.count, o.words, average)
		}
	}
	for number, score := range w.scores {
		w.scores[number] = text.WordScore(score, attainable)
	}
}

// wordsOf are the question's terms that an item had, when asked to explain.
func (r *asOfSearch) wordsOf(number int64) []string {
	if !r.search.Explain {
		return nil
	}
	var terms []string
	for i, term := range r.terms {
		for _, o := range r.words.with[i] {
			if o.number == number {
				terms = append(terms, term.Term)
			}
		}
	}
	return terms
}
