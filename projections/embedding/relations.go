package embedding

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain/text"
)

//go:embed relations/*.txt
var relationFiles embed.FS

// relations is a small thesaurus over terms.
type relations struct {
	synonyms map[string][]string // a term's groups, each named by its first word
	heads    map[string]int      // the number of a term that others are kinds of
	answers  map[string][]int    // the heads that a term is a kind of
	asks     map[string][]int    // the heads that a term means the same as
}

// thesaurus is read when the first text is embedded.
var thesaurus = sync.OnceValue(func() *relations {
	r := &relations{
		synonyms: map[string][]string{}, heads: map[string]int{}, answers: map[string][]int{}, asks: map[string][]int{},
	}
	groups := map[string][]string{}
	names, err := relationFiles.ReadDir("relations")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, name := range names {
		content, err := relationFiles.ReadFile("relations/" + name.Name())
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(content)) {
			r.read(strings.TrimSpace(line), groups)
		}
	}
	r.connect(groups)
	return r
})

// read parses a line: a comment, a group of synonyms, or heads and their kinds.
func (r *relations) read(line string, groups map[string][]string) {
	if line == "" || line[0] == '#' {
		return
	}
	if words, ok := strings.CutPrefix(line, "="); ok {
		terms := relationTerms(words)
		for _, term := range terms {
			add(r.synonyms, term, terms[0])
			add(groups, terms[0], term)
		}
		return
	}
	heads, kinds, ok := strings.Cut(line, ":")
	if !ok {
		panic(fmt.Sprintf("a relation without a colon: %q", line))
	}
	for _, head := range relationTerms(strings.ReplaceAll(heads, ",", " ")) {
		number, known := r.heads[head]
		if !known {
			number = len(r.heads)
			r.heads[head] = number
		}
		for _, kind := range relationTerms(kinds) {
			add(r.answers, kind, number)
		}
	}
}

// connect lets a synonym of a head ask for its kinds.
func (r *relations) connect(groups map[string][]string) {
	for term, names := range r.synonyms {
		if _, isHead := r.heads[term]; isHead {
			continue
		}
		for _, name := range names {
			for _, other := range groups[name] {
				if number, isHead := r.heads[other]; isHead {
					add(r.asks, term, number)
				}
			}
		}
		slices.Sort(r.asks[term])
	}
}

// relationTerms splits words like a question: one term per word.
func relationTerms(words string) []string {
	var terms []string
	for word := range strings.FieldsSeq(words) {
		for _, term := range text.Query(word) {
			terms = append(terms, term.Term)
		}
	}
	return terms
}

func add[K, V comparable](m map[K][]V, key K, value V) {
	if !slices.Contains(m[key], value) {
		m[key] = append(m[key], value)
	}
}
