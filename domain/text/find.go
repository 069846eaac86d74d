package text

import (
	"slices"
	"strings"
)

// Found is the kind of a part in which words of a query are.
const Found Op = "found"

// Find splits s into parts with and without words of a query, as a search compares them: "deploys" is found by
// "deployed". The parts make up s.
func Find(s, query string) []Edit {
	wanted := map[string]bool{}
	for _, term := range Query(query) {
		wanted[term.Term] = true
	}
	tokens := diffTokens(s)
	ops := slices.Repeat([]Op{Same}, len(tokens))
	has := func(s string) bool {
		return slices.ContainsFunc(Terms(s), func(term string) bool { return wanted[term] })
	}
	for i, token := range tokens {
		if isWord(token) && has(token) {
			ops[i] = Found
		}
		if i > 0 && isDense(token) && isDense(tokens[i-1]) && has(tokens[i-1]+token) { // whose terms are pairs
			ops[i-1], ops[i] = Found, Found
		}
	}
	var parts []Edit
	for i := 0; i < len(tokens); {
		end := i + 1
		for end < len(tokens) && ops[end] == ops[i] {
			end++
		}
		parts = append(parts, Edit{ops[i], strings.Join(tokens[i:end], "")})
		i = end
	}
	return parts
}

func isDense(token string) bool {
	class, size := classAt(token, 0)
	return class == classDense && size == len(token)
}
