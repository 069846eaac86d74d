package extraction

import (
	"strings"
	"unicode"

	"github.com/annals-kb/annals/text"
)

// How alike two texts are, as the share of words that they have in common.
const (
	same    = 0.85 // they say the same
	related = 0.34 // they are about the same
)

// likeness is the share of two texts' words that both have: 1 if they differ in nothing but spelling.
func likeness(a, b string) float64 {
	if normal(a) == normal(b) {
		return 1
	}
	left, right := words(a), words(b)
	common := 0
	for word := range left {
		if right[word] {
			common++
		}
	}
	if all := len(left) + len(right) - common; all > 0 {
		return min(float64(common)/float64(all), 0.99)
	}
	return 0
}

// quantity is a statement that something is a number, such as a port or a time.
var quantity = text.Expression(`(?i)\b(?:the|our|my) ([a-z][\w -]*?) (?:is|are)(?: now)? \S*\d\S*?(?: now)?[.!]?$`)

// sameQuantity tells whether two texts say the number of the same thing: few words, of which the likeness says little.
func sameQuantity(a, b string) bool {
	left, right := quantity().FindStringSubmatch(a), quantity().FindStringSubmatch(b)
	return left != nil && right != nil && normal(left[1]) == normal(right[1])
}

// normal leaves nothing of a text but its letters and digits.
func normal(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// words are those of a text that say something.
func words(s string) map[string]bool {
	counts, _ := text.TermCounts(s)
	set := make(map[string]bool, len(counts))
	for word := range counts {
		if !text.IsStopWord(word) {
			set[word] = true
		}
	}
	return set
}
