package text

import (
	"regexp"
	"strings"
)

// asks matches a word that asks for something, in English and Chinese.
const asks = `(?:who|whom|whose|what|when|where|why|which|how)\b|谁|什么|何时|何地|为何|哪|怎么|怎样|多少|几`

var (
	asking = regexp.MustCompile(`(?i)` + asks)
	// between matches what separates two questions in one: a sign, with or without a conjunction, or a conjunction
	// before a word that asks.
	between = regexp.MustCompile(`(?i)[,;?，；？]+\s*(?:and\s+|以及|还有|并且)?|\s+and\s+(` + asks + `)`)
	// refers matches a word that stands for something in the question before.
	refers = regexp.MustCompile(`(?i)\b(?:it|its|that|this|they|them|their|he|she|him|her|there|then)\b|它|其|他|她|此`)
)

// Parts are the questions that a question consists of, such as "which port does it use, and how long are backups
// kept?". There are none if it asks one thing, or if a part cannot be understood without the one before.
func Parts(question string) []string {
	asked := asking.FindAllStringIndex(question, -1)
	if len(asked) < 2 {
		return nil
	}
	last := asked[len(asked)-1][0]
	var parts []string
	begin := 0
	for _, at := range between.FindAllStringSubmatchIndex(question, -1) {
		rest := at[1]
		if at[2] >= 0 {
			rest = at[2]
		}
		if rest > last {
			break
		}
		for asked[0][0] < begin {
			asked = asked[1:]
		}
		if asked[0][0] < at[0] {
			parts, begin = append(parts, strings.TrimSpace(question[begin:at[0]])), rest
		}
	}
	if parts = append(parts, strings.TrimSpace(question[begin:])); len(parts) < 2 {
		return nil
	}
	for i, part := range parts {
		if !asking.MatchString(part) || i > 0 && refers.MatchString(part) || !HasContent(Query(part)) {
			return nil
		}
	}
	return parts
}
