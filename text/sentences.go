package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences cuts prose behind its sentences, with the blanks that follow them. Nothing is lost.
func sentences(s string) []string {
	return cut(s, sentenceEnd)
}

// cut divides s into the parts that next measures.
func cut(s string, next func(string) int) []string {
	var parts []string
	for s != "" {
		end := next(s)
		parts = append(parts, s[:end])
		s = s[end:]
	}
	return parts
}

// sentenceEnd finds where the first sentence of s ends.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '。', '！', '？', '；', '｡', '…':
			return skipBlanks(s, skipClosers(s, i))
		case '.', '!', '?':
			end := skipClosers(s, i)
			if end == len(s) {
				return end
			}
			if isBlank(s[end]) && !(r == '.' && (isAbbreviation(s[:i-1]) || isNumber(s[:i-1]))) {
				return skipBlanks(s, end)
			}
		case '\n':
			if isHeading(s[:i]) {
				return skipBlanks(s, i)
			}
			if startsItem(s[i:]) {
				return i
			}
		}
	}
	return len(s)
}

// skipClosers passes repeated signs, closing quotes and brackets.
func skipClosers(s string, i int) int {
	rest := strings.TrimLeft(s[i:], "。！？.!?…\"'”’」』）)]】》*_`")
	return len(s) - len(rest)
}

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isNumber tells whether a sentence is so far the number of a list's item.
func isNumber(s string) bool {
	return strings.Trim(s, " \t0123456789") == "" && strings.TrimSpace(s) != ""
}

// isAbbreviation tells whether what stands before a full stop is an abbreviation or an initial.
func isAbbreviation(s string) bool {
	start := strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) + 1
	switch word := s[start:]; strings.ToLower(word) {
	case "e.g", "i.e", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "st", "no", "fig", "approx", "al", "resp":
		return true
	default:
		return len(word) == 1 && isUpper(word[0]) && word != "I"
	}
}

// startsItem tells whether a line begins something of its own: a heading, an item of a list, a row of a table.
func startsItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if isHeading(line) || strings.HasPrefix(line, "|") || strings.HasPrefix(line, ">") {
		return true
	}
	marker := strings.TrimLeft(line, "0123456789")
	if marker != line {
		return strings.HasPrefix(marker, ". ") || strings.HasPrefix(marker, ") ") || strings.HasPrefix(marker, "、")
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") ||
		strings.HasPrefix(line, "• ")
}

// isHeading tells whether a line is a Markdown heading.
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return text != line && len(line)-len(text) <= 6 && strings.HasPrefix(text, " ")
}
