package text

import "unicode/utf8"

// The costs of characters in hundredths of a token, fitted to two byte-pair vocabularies of current language models.
const (
	costWord    = 78 // of at most longWord letters, besides its letters
	costLetter  = 6
	costDigit   = 65
	costSign    = 60
	costNewline = 65
	costBlank   = 6
	costDense   = 90
	costOther   = 46 // a letter of another alphabet
	costPicture = 250
	longWord    = 8
	oneToken    = 100
)

// Tokens estimates the tokens of s in a language model, without its vocabulary. It is about one for four characters
// of English, and one for a Chinese character. For ordinary text and code, it is within a quarter of the real number.
// The parts of a text never cost less than the whole.
func Tokens(s string) int {
	return (cost(s) + oneToken - 1) / oneToken
}

// cost estimates s in hundredths of a token.
func cost(s string) int {
	cost, letters := 0, 0 // letters of the word at hand
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			class, size := classAt(s, i)
			cost += foreignCost(class)
			letters = 0
			i += size
			continue
		}
		i++
		if shape := shapes[c]; shape&(lowerLetter|upperLetter) != 0 {
			if letters == longWord || shape == upperLetter && i > 1 && isLower(s[i-2]) {
				letters = 0
			}
			if letters == 0 {
				cost += costWord
			}
			letters++
			cost += costLetter
			continue
		}
		letters = 0
		switch {
		case isDigit(c):
			cost += costDigit
		case c == '\n':
			cost += costNewline
		case c > ' ':
			cost += costSign
		default:
			cost += costBlank
		}
	}
	return cost
}

func foreignCost(class class) int {
	switch class {
	case classDense:
		return costDense
	case classPicture:
		return costPicture
	case classWord:
		return costOther
	default:
		return oneToken
	}
}
