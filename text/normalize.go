package text

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normalize makes s valid, compatible (NFKC) and gives it plain apostrophes.
func normalize(s string) string {
	if isASCII(s) {
		return s
	}
	if isOrdinary(s) {
		return strings.Map(narrow, s)
	}
	s = norm.NFKC.String(strings.ToValidUTF8(s, " "))
	return strings.ReplaceAll(s, "’", "'")
}

// isOrdinary tells whether s consists of ASCII and of what most Chinese is written with. There, NFKC makes full-width
// forms narrow and nothing else; asking it for that takes as long as everything else that is done with such a text.
func isOrdinary(s string) bool {
	for _, r := range s {
		switch {
		case r < 0x80, usualHan(r), isFullWidth(r):
		case 0x2012 <= r && r <= 0x2016, 0x2018 <= r && r <= 0x2023: // dashes, quotation marks, bullets
		case 0x3001 <= r && r <= 0x3020: // punctuation and brackets
		default:
			return false
		}
	}
	return true
}

// narrow is the ASCII character that r is a form of, or r.
func narrow(r rune) rune {
	switch {
	case isFullWidth(r):
		return r - '！' + '!'
	case r == '’':
		return '\''
	}
	return r
}

// isFullWidth tells the ASCII characters that are as wide as a Han character.
func isFullWidth(r rune) bool { return '！' <= r && r <= '～' }
