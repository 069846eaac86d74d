package text

import (
	"slices"
	"strings"
)

// QueryTerm is a term of a question.
type QueryTerm struct {
	Term string

	// Beside tells that the term counts only for an item that has one of the terms before it, too. A number of one or two
	// digits also stands in lists, versions and dates: of two items about an "error" it tells which one is about 42, but
	// alone it finds none.
	Beside bool
}

// Query cuts a question into the terms to look for, each once, in the order of the text, small numbers last. The terms are
// those of Terms, except that stop words are left out if there is anything else, and Han characters that stand in a pair.
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
