package compare

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/text"
)

// The longest phrases of the vocabulary.
const (
	mostWords      = 3
	mostCharacters = 6
)

// lexeme finds dates, times, versions, numbers, words and names, Han characters and the ends of sentences.
var lexeme = text.Expression(`(?i)\d{4}-\d{1,2}-\d{1,2}|\d{1,2}:\d{2}|v\d+(?:\.\d+)*|\d+\.\d+\.\d+|\d+(?:,\d{3})+|` +
	`\d+(?:\.\d+)?|[a-z]\w*(?:[-./@:'+]\w+)*|%|\p{Han}|[.!?:;\n。]`)

// part is a word, a value or a character before it is looked up.
type part struct {
	text  string // in lower case; the stem of a word
	named bool   // only names look like this
}

func partsOf(s string) []part {
	s = strings.ReplaceAll(s, "’", "'")
	var parts []part
	opening := true // of a sentence, where a capital says nothing
	for _, found := range lexeme().FindAllString(s, -1) {
		lower := strings.ToLower(found)
		lower = strings.TrimSuffix(lower, "'s")
		p := part{text: stem(lower)}
		if isLetter(found[0]) && len(found) > 1 {
			p.named = strings.ContainsAny(found, "0123456789_/@:.-") ||
				strings.ToLower(found[1:]) != found[1:] || !opening && found[0] < 'a'
		}
		opening = strings.ContainsAny(found[:1], ".!?:;\n") || found == "。"
		parts = append(parts, p)
	}
	return parts
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// tokensOf looks parts up, the longest phrases first. Han characters of no phrase become pairs, as in
// the index of words.
func tokensOf(parts []part) []token {
	known := vocabulary()
	var tokens []token
	var unknown []string // Han characters before the part at hand
	flush := func() {
		for i := range max(len(unknown)-1, min(len(unknown), 1)) {
			tokens = append(tokens, token{kind: word, name: strings.Join(unknown[i:min(i+2, len(unknown))], "")})
		}
		unknown = nil
	}
	for i := 0; i < len(parts); {
		t, n := lookUp(parts[i:], known)
		if t.kind == character {
			unknown = append(unknown, t.name)
			i++
			continue
		}
		flush()
		if t.kind != "" {
			tokens = append(tokens, t)
		}
		i += n
	}
	flush()
	return tokens
}

// lookUp returns the token at the beginning of parts, and its length; no kind for a sign.
func lookUp(parts []part, known map[string]token) (token, int) {
	first := parts[0].text
	if first == "may" && parts[0].named {
		return token{kind: month, name: "5"}, 1
	}
	most, separator := mostWords, " "
	han := first[0] >= utf8.RuneSelf
	if first == "。" {
		return token{}, 1
	}
	if han {
		most, separator = mostCharacters, ""
	}
	for n := min(most, len(parts)); n > 0; n-- {
		if t, ok := known[phraseOf(parts[:n], separator)]; ok && (t.kind != stop || !parts[0].named) {
			return t, n
		}
	}
	switch {
	case han:
		if value, n := hanNumber(parts); n > 0 && n < len(parts) {
			if t, _ := lookUp(parts[n:], known); t.kind == unit || strings.Contains("个名位条台", parts[n].text) {
				return token{kind: number, factor: value}, n
			}
		}
		return token{kind: character, name: first}, 1
	case isDigit(first[0]), first[0] == 'v' && len(first) > 1 && isDigit(first[1]):
		return valueOf(first), 1
	case numerals[first] > 0:
		return token{kind: number, factor: numerals[first]}, 1
	case parts[0].named:
		return token{kind: name, name: first}, 1
	case isLetter(first[0]):
		return token{kind: word, name: first}, 1
	}
	return token{}, 1
}

func phraseOf(parts []part, separator string) string {
	if len(parts) == 1 {
		return parts[0].text
	}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.text
	}
	return strings.Join(words, separator)
}

// valueOf is the token of a value that begins with a digit, or of a version.
func valueOf(s string) token {
	switch {
	case s[0] == 'v', strings.Count(s, ".") > 1:
		return token{kind: version, name: strings.TrimPrefix(s, "v")}
	case strings.Contains(s, ":"):
		hour, minute, _ := strings.Cut(s, ":")
		return token{kind: clock, factor: numberOf(hour)*60 + numberOf(minute)}
	case strings.Contains(s, "-"):
		parts := strings.Split(s, "-")
		return token{kind: date, name: dateName(numberOf(parts[1]), numberOf(parts[2]))}
	}
	return token{kind: number, name: s, factor: numberOf(strings.ReplaceAll(s, ",", ""))}
}

func numberOf(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // of digits
	return n
}

func dateName(month, day float64) string {
	return strconv.FormatFloat(month, 'f', -1, 64) + "/" + strconv.FormatFloat(day, 'f', -1, 64)
}

// numerals are numbers in words. One is left out, since it is usually a pronoun.
var numerals = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelv": 12, "fifteen": 15, "twenti": 20, "thirti": 30, "forti": 40, "fifti": 50, "sixti": 60, "ninet": 90,
	"hundr": 100,
}

// hanNumber is the number in Han characters at the beginning of parts, and its length; 0 if there is none.
func hanNumber(parts []part) (value float64, n int) {
	digits := []string{"", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十"}
	last := 0.0
	for ; n < len(parts); n++ {
		switch character := parts[n].text; character {
		case "十":
			value, last = value+max(last, 1)*10, 0
		case "百":
			value, last = value+max(last, 1)*100, 0
		case "千":
			value, last = value+max(last, 1)*1000, 0
		case "万":
			value, last = max(value+last, 1)*10_000, 0
		case "两":
			last = 2
		case "半":
			last = 0.5
		default:
			digit := slices.Index(digits, character)
			if digit < 1 {
				return value + last, n
			}
			last = float64(digit)
		}
	}
	return value + last, n
}
