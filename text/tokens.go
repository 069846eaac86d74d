package text

import "unicode/utf8"

// Costs of characters in hundredths of a token, fitted to the byte-pair vocabularies of current language models.
const (
	costLetter    = 12
	costWord      = 40 // besides its letters
	costDigit     = 40
	costSign      = 65
	costNewline   = 30
	costDense     = 95
	costOther     = 35 // a letter of another alphabet
	costPicture   = 250
	costHundredth = 100
)

// Tokens estimates how many tokens a language model sees in s, without its vocabulary: one for about four English
// letters, about one for a Chinese character. Two texts never cost less apart than together.
func Tokens(s string) int {
	return (hundredths(s) + costHundredth - 1) / costHundredth
}

func hundredths(s string) int {
	cost := 0
	inWord := false
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			class, size := classAt(s, i)
			cost += foreignCost(class)
			inWord = false
			i += size
			continue
		}
		i++
		switch shape := shapes[c]; {
		case shape&(lowerLetter|upperLetter) != 0:
			if !inWord {
				cost += costWord
			}
			cost += costLetter
			inWord = true
			continue
		case shape == digit:
			cost += costDigit
		case c == '\n':
			cost += costNewline
		case c > ' ':
			cost += costSign
		}
		inWord = false
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
		return costSign
	}
}
