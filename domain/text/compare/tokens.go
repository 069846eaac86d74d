package compare

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// The longest phrases of the vocabulary, and the longest number in Han characters that is read.
const (
	mostWords      = 3
	mostCharacters = 6
	mostDigits     = 16
)

// lexeme finds dates, times, versions, numbers, words and names, Han characters and the ends of clauses.
var lexeme = text.Expression(`(?i)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}:\d{2}|` +
	`\B-\d+(?:\.\d+)?|v\d+(?:\.\d+)*|\d+\.\d+\.\d+|\d+(?:,\d{3})+|\d+(?:\.\d+)?|` +
	`(?:\B(?:\.{0,2}/|~/|--?|[.$]))?[a-z]\w*(?:[-./@:'+]\w+)*|%|\p{Han}|[.!?:;,\n。]`)

// part is a word, a value or a character before it is looked up.
type part struct {
	text  string // in lower case; the stem of a word
	named bool   // only names look like this
}

// shortened are the ends of words such as I'm and Mia's. They carry no meaning for a comparison.
var shortened = []string{"s", "m", "re", "ve", "ll", "d"}

func partsOf(s string) []part {
	s = strings.ReplaceAll(s, "’", "'")
	var parts []part
	opening := true // of a sentence, where a capital says nothing
	all := lexeme().FindAllString(s, -1)
	letters := lettersOf(all)
	for i, found := range all {
		lower := strings.ToLower(found)
		if before, after, cut := strings.Cut(lower, "'"); cut && slices.Contains(shortened, after) {
			lower = before
		}
		p := part{text: stem(lower)}
		if isLetter(found[0]) && len(lower) == 1 { // service A
			p.named = found[0] < 'a' && found != "I" && (!opening || i+1 < len(all) && all[i+1][0] >= utf8.RuneSelf) ||
				letters[i]
		} else if lower[0] < utf8.RuneSelf && strings.ContainsFunc(lower, unicode.IsLetter) {
			p.named = strings.ContainsAny(found, "0123456789_/@:.$-") ||
				strings.ToLower(found[1:]) != found[1:] || !opening && found[0] < 'a'
		}
		opening = strings.Contains(".!?:;\n。", found)
		parts = append(parts, p)
	}
	return parts
}

// lettersOf are the places of letters that are names: from a to b, node A and node I.
func lettersOf(all []string) map[int]bool {
	named, before := map[int]bool{}, map[string]bool{}
	for i, found := range all {
		if len(found) == 1 && isLetter(found[0]) && !strings.Contains("aiI", found) && i > 0 && !isDigit(all[i-1][0]) {
			named[i], before[strings.ToLower(all[i-1])] = true, true
		}
	}
	for i, found := range all {
		ends := i+1 == len(all) || strings.Contains("to from is and or . , ; : 。", all[i+1])
		if found == "a" && i > 0 && (len(before) > 0 || ends) ||
			found == "I" && i > 0 && (before[strings.ToLower(all[i-1])] || ends && len(before) > 0) {
			named[i] = true
		}
	}
	return named
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
			tokens = append(tokens, token{
				kind: word, name: strings.Join(unknown[i:min(i+2, len(unknown))], ""), factor: 1,
			})
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

// functional are the kinds of words that a capital makes names: the US.
var functional = map[kind]bool{stop: true, who: true, role: true, mark: true}

// lookUp returns the token at the beginning of parts, and its length; no kind for a sign.
func lookUp(parts []part, known map[string]token) (token, int) {
	first := parts[0].text
	most, separator := mostWords, " "
	han := first[0] >= utf8.RuneSelf
	switch {
	case first == "may" && parts[0].named:
		return token{kind: month, name: "5"}, 1
	case strings.Contains(".!?:;,\n。", first):
		return token{kind: boundary, name: first}, 1
	case first == "one" && len(parts) > 1 && isLetter(parts[1].text[0]) && parts[1].text != first:
		if t, _ := lookUp(parts[1:], known); t.kind == unit {
			return token{kind: number, factor: 1}, 1
		}
	case len(first) > 2 && isLetter(first[0]) && strings.ContainsAny(first[1:2], "+-") && isDigit(first[2]): // T+1
		return token{kind: version, name: first}, 1
	case strings.HasSuffix(first, "n't") && known[phraseOf(parts[:min(2, len(parts))], separator)].kind == "":
		return token{kind: not}, 1
	}
	if han {
		most, separator = mostCharacters, ""
	}
	if parts[0].named && len(first) == 1 {
		most = 0
	}
	for n := min(most, len(parts)); n > 0; n-- {
		if t, ok := known[phraseOf(parts[:n], separator)]; ok && (n > 1 || !parts[0].named || !functional[t.kind]) {
			return t, n
		}
	}
	switch {
	case han:
		if value, n := hanNumber(parts); n > 0 && n < min(len(parts), mostDigits) {
			if t, _ := lookUp(parts[n:], known); t.kind == unit || strings.Contains("个名位条台", parts[n].text) {
				return token{kind: number, factor: value}, n
			}
		}
		return token{kind: character, name: first}, 1
	case isDigit(first[0]), first[0] == '-' && isDigit(first[1]), first[0] == 'v' && len(first) > 1 && isDigit(first[1]):
		return valueOf(first), 1
	case parts[0].named:
		return token{kind: name, name: first}, 1
	case isLetter(first[0]):
		return token{kind: word, name: first, factor: 1}, 1
	}
	return token{}, 1
}

func phraseOf(parts []part, separator string) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.text
	}
	return strings.Join(words, separator)
}

// isDate reports whether a value has a year of four digits and two more parts.
func isDate(s string) bool {
	years := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-/.", r) })
	return len(years) == 3 && max(len(years[0]), len(years[2])) == 4
}

// valueOf is the token of a value that begins with a digit, or of a version.
func valueOf(s string) token {
	switch {
	case s[0] != 'v' && isDate(s):
		a := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
		if len(a[0]) == 4 {
			return token{kind: date, name: dateName(numberOf(a[1]), numberOf(a[2])), factor: numberOf(a[0])}
		}
		if strings.Contains(s, ".") || numberOf(a[0]) > 12 { // otherwise the month comes first, as in America
			a[0], a[1] = a[1], a[0]
		}
		return token{kind: date, name: dateName(numberOf(a[0]), numberOf(a[1])), factor: numberOf(a[2])}
	case strings.Contains(s, ":"):
		hour, minute, _ := strings.Cut(s, ":")
		return token{kind: clock, factor: numberOf(hour)*60 + numberOf(minute)}
	case s[0] == 'v', strings.Count(s, ".") > 1:
		return token{kind: version, name: strings.TrimPrefix(s, "v")}
	}
	return token{kind: number, name: s, factor: numberOf(strings.ReplaceAll(s, ",", ""))}
}

func numberOf(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // of digits
	return n
}

func dateName(month, day float64) string { return format(month) + "/" + format(day) }

// hanNumber is the number in Han characters at the beginning of parts, and its length; 0 if there is none.
func hanNumber(parts []part) (value float64, n int) {
	digits := []string{"", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十"}
	last := 0.0
	for ; n < min(len(parts), mostDigits); n++ {
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
