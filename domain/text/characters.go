package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is the role of a character for the tokenizer.
type class uint8

const (
	classSpace   class = iota // separates words
	classWord                 // part of words: letters, digits, marks, the underscore
	classDense                // of a script written without spaces
	classPicture              // an emoji
)

// denseScripts put no spaces between words, or attach particles to them, as Hangul does.
var denseScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classAt returns the class of the character at s[i:], and its size in bytes.
func classAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		if shapes[c]&(lowerLetter|upperLetter|digit|underscore) != 0 {
			return classWord, 1
		}
		return classSpace, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

func classOf(r rune) class {
	switch {
	case r == utf8.RuneError:
		return classSpace
	case usualHan(r) || r == 'ー': // the long vowel mark belongs to no script
		return classDense
	case isPicture(r):
		return classPicture
	case !unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.No):
		return classSpace
	case r == 0xFE0F || r == 0xFE0E || 0x20D0 <= r && r <= 0x20FF: // how to display the preceding character
		return classSpace
	case unicode.In(r, denseScripts...):
		return classDense
	default:
		return classWord
	}
}

// IsPaired tells whether a letter is of a script without spaces other than Han: pairs of them are compared.
func IsPaired(r rune) bool {
	return r >= utf8.RuneSelf && classOf(r) == classDense && !unicode.Is(unicode.Han, r)
}

// usualHan reports whether r is one of the Han characters of most Chinese text.
func usualHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

func isPicture(r rune) bool {
	return 0x2600 <= r && r <= 0x27BF || 0x1F000 <= r && r <= 0x1FAFF
}

// shape is the set of kinds of ASCII characters in a run.
type shape uint8

const (
	lowerLetter shape = 1 << iota
	upperLetter
	digit
	underscore
	joiner  // may join word characters on both sides
	foreign // not ASCII
)

// shapes of the ASCII characters; zero separates.
var shapes = func() (table [utf8.RuneSelf]shape) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z':
			table[c] = lowerLetter
		case 'A' <= c && c <= 'Z':
			table[c] = upperLetter
		case '0' <= c && c <= '9':
			table[c] = digit
		case c == '_':
			table[c] = underscore
		}
	}
	for _, c := range `-./:@'\&,` {
		table[c] = joiner
	}
	return table
}()

// normalize makes s valid UTF-8 in the form NFKC, with plain apostrophes.
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

// isOrdinary reports whether s consists of ASCII and the usual characters of Chinese text. NFKC then only narrows
// full-width forms, and the full normalisation would double the time for such a text.
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

// narrow is the ASCII character of which r is the full-width form, or r.
func narrow(r rune) rune {
	switch {
	case isFullWidth(r):
		return r - '！' + '!'
	case r == '’':
		return '\''
	}
	return r
}

// isFullWidth reports whether r is the full-width form of an ASCII character.
func isFullWidth(r rune) bool { return '！' <= r && r <= '～' }

// folded are the scripts in which writers often omit marks: accents, points or vowels. In other scripts, a mark is as
// significant as a letter and stays.
var folded = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew}

// ligatures replaces letters that do not decompose.
var ligatures = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ł", "l",
	"ı", "i", "ħ", "h", "ς", "σ",
	"ـ", "", "\u200c", "", "\u200d", "",
)

// Compose is s in the form NFC, in which a letter and its marks are one character if there is one.
func Compose(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFC.String(s)
}

// Fold converts a text to lower case without accents: "Müller" and "Muller", "ёлка" and "елка" are the same.
func Fold(word string) string {
	word = strings.ToLower(word)
	if isASCII(word) {
		return word
	}
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
