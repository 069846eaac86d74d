package text

import "strings"

// Sentences cuts prose behind its sentences. Blanks around them are left out, and so is what consists of
// nothing else.
func Sentences(s string) []string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
		for _, sentence := range sentences(line) {
			if sentence = strings.TrimSpace(sentence); sentence != "" {
				all = append(all, sentence)
			}
		}
	}
	return all
}
