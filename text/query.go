package text

// QueryTerm is a term of a question and how much it counts, 1 for a word of its own.
type QueryTerm struct {
	Term   string
	Weight float64
}

// Query cuts a question into the terms to look for, each once, in the order of the text. The terms are those of Terms,
// except that stop words are left out if there is anything else, and Han characters that stand in a pair.
func Query(s string) []QueryTerm {
	t := newTokenizer(s)
	t.pairsOnly = true
	t.run()
	terms := distinct(t.terms, func(term string) bool { return !IsStopWord(term) })
	if len(terms) == 0 {
		terms = distinct(t.terms, func(string) bool { return true })
	}
	return terms
}

func distinct(terms []string, wanted func(string) bool) []QueryTerm {
	var found []QueryTerm
	seen := make(map[string]bool, len(terms))
	for _, term := range terms {
		if wanted(term) && !seen[term] {
			seen[term] = true
			found = append(found, QueryTerm{Term: term, Weight: 1})
		}
	}
	return found
}
