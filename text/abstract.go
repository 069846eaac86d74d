package text

import (
	"strings"
	"unicode/utf8"
)

// Abstract is what s says first, on one line of at most maxTokens: its title and its first sentences, without code.
func Abstract(s string, maxTokens int) string {
	var abstract string
	for _, sentence := range leading(s) {
		longer := join(abstract, sentence)
		if Tokens(longer) > maxTokens {
			break
		}
		abstract = longer
	}
	if abstract != "" {
		return abstract
	}
	return shorten(strings.Join(strings.Fields(s), " "), maxTokens)
}

// leading lists the sentences of s on a line each, a title as the beginning of what follows it.
func leading(s string) []string {
	var found []string
	for _, block := range blocks(s) {
		for _, sentence := range proseOf(block) {
			line := strings.Join(strings.Fields(sentence), " ")
			if isHeading(line) {
				if line = strings.TrimLeft(line, "# "); line != "" {
					line += ":"
				}
			}
			if line != "" {
				found = append(found, line)
			}
		}
	}
	return found
}

// proseOf lists the sentences of a block up to its code.
func proseOf(block string) []string {
	if i := strings.Index(block, "```"); i >= 0 {
		block = block[:i]
	}
	if isCode(block) {
		return nil
	}
	return sentences(block)
}

// join puts a sentence behind others: with a blank between, unless the script has none.
func join(before, sentence string) string {
	if before == "" {
		return sentence
	}
	if last, _ := utf8.DecodeLastRuneInString(before); strings.ContainsRune("。！？；…｡」』”）", last) {
		return before + sentence
	}
	return before + " " + sentence
}

// shorten cuts a line behind the last word, or in a script without blanks the last character, that leaves room for an
// ellipsis.
func shorten(line string, maxTokens int) string {
	const ellipsis = "…"
	if Tokens(line) <= maxTokens {
		return line
	}
	pieces := Pieces(line, max(maxTokens-Tokens(ellipsis), 1))
	return strings.TrimSpace(pieces[0]) + ellipsis
}
