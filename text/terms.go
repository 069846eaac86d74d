package text

import (
	"slices"
	"strings"
)

// Terms cuts s into the terms by which it is indexed and found, in the order of the text, repeated as often as they
// occur.
//
//   - English words are lower-cased and reduced to their stem ("researching" and "researched" are
//     "research"; "went" is "go").
//   - Han, kana, Hangul and other scripts written without spaces become overlapping pairs of characters; Han characters
//     also stand alone, so that a question of one character finds something.
//   - Identifiers, paths, versions and addresses appear whole and in parts: "getUserByID" is also
//     "get", "user", "by", "id".
//   - Other words are lower-cased and lose their accents.
//   - Stop words stay: IsStopWord shows them apart.
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

// DocumentTerms is a text as its index sees it.
type DocumentTerms struct {
	Terms  []string // sorted, each once
	Counts []int    // how often the term of the same place occurs
	Length int      // in words
}

// DocumentTermsOf counts the terms of s in order.
func DocumentTermsOf(s string) DocumentTerms { return CountTerms(Cut(s)) }

// CountTerms counts terms in order, which it puts them in for that.
func CountTerms(terms []string, words int) DocumentTerms {
	slices.Sort(terms)
	different := 0
	for i, term := range terms {
		if i == 0 || term != terms[i-1] {
			different++
		}
	}
	bag := DocumentTerms{Terms: make([]string, 0, different), Counts: make([]int, 0, different), Length: words}
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

// QueryTerm is a term of a question.
type QueryTerm struct {
	Term string

	// Beside shows that the term counts only for an item that has one of the terms before it, too. A number of one or two
	// digits also stands in lists, versions and dates: of two items about an "error" it shows which one is about 42, but
	// alone it finds none.
	Beside bool
}

// Query cuts a question into the terms to look for, each once, in the order of the text, small numbers last. The
// terms are those of Terms, except that stop words are left out if there is anything else, and Han characters that
// stand in a pair.
func Query(s string) []QueryTerm {
	t := newTokenizer(s)
	t.pairsOnly = true
	t.run()
	terms := distinct(t.terms, func(term string) bool { return !IsStopWord(term) })
	if len(terms) == 0 {
		terms = distinct(t.terms, func(string) bool { return true })
	}
	small := func(term QueryTerm) bool { return len(term.Term) <= 2 && strings.Trim(term.Term, "0123456789") == "" }
	words := slices.DeleteFunc(slices.Clone(terms), small)
	if len(words) == 0 || len(words) == len(terms) {
		return terms
	}
	for _, term := range terms {
		if small(term) {
			words = append(words, QueryTerm{Term: term.Term, Beside: true})
		}
	}
	return words
}

func distinct(terms []string, wanted func(string) bool) []QueryTerm {
	var found []QueryTerm
	seen := make(map[string]bool, len(terms))
	for _, term := range terms {
		if wanted(term) && !seen[term] {
			seen[term] = true
			found = append(found, QueryTerm{Term: term})
		}
	}
	return found
}

// Tokenizer cuts what is known and what is asked into the same terms, by the rules of one version.
type Tokenizer struct {
	Version string
	Cut     func(s string) (terms []string, words int)
	Query   func(s string) []QueryTerm
}

// Tokenizers are those that indexes of words can be built with, today's first. Behind it stay those that
// an index of the release before may have been built with: it is searched and written by its own rules
// until it is retired.
func Tokenizers() []Tokenizer {
	return []Tokenizer{{Version: TokenizerVersion, Cut: Cut, Query: Query}}
}
