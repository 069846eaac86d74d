package text

import "slices"

// Terms cuts s into the terms by which it is indexed and found, in the order of the text, repeated as often as they occur.
//
//   - English words are lower-cased and reduced to their stem ("researching" and "researched" are "research"; "went" is "go").
//   - Han, kana, Hangul and other scripts written without spaces become overlapping pairs of characters; Han characters
//     also stand alone, so that a question of one character finds something.
//   - Identifiers, paths, versions and addresses appear whole and in parts: "getUserByID" is also "get", "user", "by", "id".
//   - Other words are lower-cased and lose their accents.
//   - Stop words stay: IsStopWord tells them apart.
//
// A term is valid UTF-8 of at most MaxTermBytes without NUL. The same s always gives the same terms.
func Terms(s string) []string {
	terms, _ := Cut(s)
	return terms
}

// Cut is [Terms] with the number of words: an identifier's whole and its parts are counted once, so that code is not
// punished for being indexed in several ways.
func Cut(s string) (terms []string, words int) {
	t := newTokenizer(s)
	t.run()
	return t.terms, t.words
}

// TermCounts counts the terms of s. The length is in words.
func TermCounts(s string) (counts map[string]int, length int) {
	terms, length := Cut(s)
	counts = make(map[string]int, len(terms))
	for _, term := range terms {
		counts[term]++
	}
	return counts, length
}

// Bag is a text as its index sees it.
type Bag struct {
	Terms  []string // sorted, each once
	Counts []int    // how often the term of the same place occurs
	Length int      // in words
}

// BagOf counts the terms of s in order.
func BagOf(s string) Bag { return Count(Cut(s)) }

// Count counts terms in order, which it puts them in for that.
func Count(terms []string, words int) Bag {
	slices.Sort(terms)
	different := 0
	for i, term := range terms {
		if i == 0 || term != terms[i-1] {
			different++
		}
	}
	bag := Bag{Terms: make([]string, 0, different), Counts: make([]int, 0, different), Length: words}
	for i, term := range terms {
		if i > 0 && term == terms[i-1] {
			bag.Counts[len(bag.Counts)-1]++
			continue
		}
		bag.Terms = append(bag.Terms, term)
		bag.Counts = append(bag.Counts, 1)
	}
	return bag
}
