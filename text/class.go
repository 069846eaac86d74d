package text

import (
	"unicode"
	"unicode/utf8"
)

// class is what a character means to the tokenizer.
type class uint8

const (
	classSpace   class = iota // separates words
	classWord                 // stands in words: letters, digits, marks, the underscore
	classDense                // of a script written without spaces
	classPicture              // an emoji
)

// denseScripts put no spaces between words (or, like Hangul, glue particles to them).
var denseScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classAt tells the class of the character at s[i:] and its size in bytes.
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
	case r == 0xFE0F || r == 0xFE0E || 0x20D0 <= r && r <= 0x20FF: // says how to draw what stands before
		return classSpace
	case unicode.In(r, denseScripts...):
		return classDense
	default:
		return classWord
	}
}

// usualHan tells the Han characters that most Chinese text consists of.
func usualHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

func isPicture(r rune) bool {
	return 0x2600 <= r && r <= 0x27BF || 0x1F000 <= r && r <= 0x1FAFF
}

// shape says what a run of ASCII characters is made of.
type shape uint8

const (
	lowerLetter shape = 1 << iota
	upperLetter
	digit
	underscore
	joiner  // may stand inside a word with word characters on both sides
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
