package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folded are the scripts whose marks are accents, points or vowels that many writers leave out. Elsewhere a mark is as
// good as a letter and stays.
var folded = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew}

// ligatures spells letters that do not decompose.
var ligatures = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ı", "i", "ħ", "h", "ς", "σ",
	"ـ", "", "\u200c", "", "\u200d", "",
)

// fold lowers a word and takes its accents away: "Müller" and "Muller", "ёлка" and "елка" are the same.
func fold(word string) string {
	word = strings.ToLower(word)
	var b strings.Builder
	bare := false
	for _, r := range norm.NFD.String(word) {
		switch {
		case !isMark(r):
			bare = unicode.In(r, folded...)
		case bare:
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFKC.String(ligatures.Replace(b.String()))
}
