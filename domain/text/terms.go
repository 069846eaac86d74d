package text

import (
	"slices"
	"strings"
	"unicode"
)

// Terms splits s into the terms of the index, in the order of the text, with repetitions.
//
//   - English words become lower-case stems ("researching" and "researched" are "research"; "went" is "go").
//   - Han, kana, Hangul and other scripts written without spaces become overlapping pairs of characters. Han
//     characters also become single terms, so that a query of one character finds something.
//   - Identifiers, paths, versions and addresses appear whole and in parts: "getUserByID" is also "get", "user",
//     "by", "id".
//   - Other words become lower-case, without accents.
//   - Stop words stay; see IsStopWord.
//
// A term is valid UTF-8 of at most MaxTermBytes without NUL. The result is deterministic.
func Terms(s string) []string {
	terms, _ := Cut(s)
	return terms
}

// Cut is [Terms] with the number of words. It counts an identifier and its parts once, so that code is not penalised
// for its several terms.
func Cut(s string) (terms []string, words int) {
	t := newTokenizer(s)
	t.run()
	return t.terms, t.words
}

// TermCounts counts the terms of s. length is in words.
func TermCounts(s string) (counts map[string]int, length int) {
	terms, length := Cut(s)
	counts = make(map[string]int, len(terms))
	for _, term := range terms {
		counts[term]++
	}
	return counts, length
}

// QueryTerm is a term of a query.
type QueryTerm struct {
	Term string

	// Beside says that the term counts only for an item that also has an earlier term. A number of one or two digits
	// is too common in lists, versions and dates to find an item alone. It only selects among items that match other
	// terms.
	Beside bool
}

// Query splits a query into its terms, each once, in the order of the text, small numbers last. It omits stop words
// if there is anything else, and single Han characters that are part of a pair.
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

// content is the share of a term's characters that say what a question is about: none of a stop word, or of Han
// characters that only hold a question together.
func content(term string) (share float64, han bool) {
	const function = "什么怎样谁哪几多少请问给由能"
	characters := []rune(term)
	han = !slices.ContainsFunc(characters, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
	switch {
	case IsStopWord(term):
		return 0, han
	case !han:
		return 1, false
	}
	for _, r := range characters {
		if !IsStopWord(string(r)) && !strings.ContainsRune(function, r) {
			share += 1 / float64(len(characters))
		}
	}
	return share, true
}

// HasContent reports whether any term of a question says what it is about.
func HasContent(terms []QueryTerm) bool {
	return slices.ContainsFunc(terms, func(t QueryTerm) bool {
		share, _ := content(t.Term)
		return share > 0
	})
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

// Tokenizer splits documents and queries by the rules of one version.
type Tokenizer struct {
	Version string
	Cut     func(s string) (terms []string, words int)
	Query   func(s string) []QueryTerm
	// Sequences tells that an item's sequence is one of its terms, and IDs that its id is.
	Sequences, IDs bool
}

// Tokenizers lists the tokenizers that an index of words can use, the current one first. Those of the previous
// release stay in the list, since an index that uses one is still searched and written until it is retired.
func Tokenizers() []Tokenizer {
	return []Tokenizer{
		{Version: TokenizerVersion, Cut: Cut, Query: Query, Sequences: true, IDs: true},
		{Version: "2", Cut: Cut, Query: Query, Sequences: true},
		{Version: "1", Cut: Cut, Query: Query},
	}
}
