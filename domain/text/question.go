package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Question is what somebody typed into a search.
type Question struct {
	Words   string   // all of it but what it leaves out
	Phrases []string // in quotes: what is found contains each
	Without []string // words and phrases after a minus or NOT: what is found contains none
	Remarks []string // how it was read, where that may surprise
}

// mostConditions is how many phrases and exclusions people type. A text with more of them was pasted.
const mostConditions = 8

// operands are the words and the quotes of a question, with the operator before them.
var operands = Expression(`(-|NOT\s+)?(?:"([^\s"][^"]*)"|[“„]([^“”„]+)[“”]|([^\s"“„]+))`)

// ReadQuestion reads the quotes and exclusions of a question.
//
//   - "rear extension", in straight or curly quotes, must occur as it stands, in any case and with any marks.
//   - -garage, -"rear extension" and NOT garage leave out what has the word or the phrase. The minus stands before a
//     word of at least three letters. So 2-3, --flag, -n and -5 are words. NOT is in capitals, unlike the word after
//     it, and begins the question or follows a word that says something. So "does NOT start" is a sentence.
//
// A question that only leaves out, and one with many conditions, is read as words.
func ReadQuestion(s string) Question {
	q := Question{Words: s}
	if len(Terms(s)) == 0 && s != "" {
		q.Remarks = []string{"it has no word to search for"}
	}
	if !strings.ContainsAny(s, "\"“„*\n(") && !strings.Contains(" "+s, " -") && !strings.Contains(s, "NOT") {
		return q // most questions are only words
	}
	var words strings.Builder
	kept, before := 0, ""
	for from := 0; ; {
		at := operands().FindStringSubmatchIndex(s[from:])
		if at == nil {
			break
		}
		begin, end := from+at[0], from+at[1]
		operator, word := group(s[from:], at, 1), strings.TrimRight(group(s[from:], at, 4), ".,;:!?)")
		phrase := strings.TrimSpace(group(s[from:], at, 2) + group(s[from:], at, 3))
		if phrase != "" && (joined(s, begin) || joined(s, end) || len(Terms(phrase)) == 0) { // such as the inches of 5"
			from = begin + max(1, len(operator))
			continue
		}
		from = end
		excludes := operator != "" && follows(s, begin, operator, before)
		switch before = word; {
		case excludes && phrase != "":
			q.Without = append(q.Without, phrase)
		case excludes && isExcluded(operator, word):
			q.Without = append(q.Without, word)
			end = begin + strings.Index(s[begin:], word) + len(word)
		case phrase != "":
			q.Phrases = append(q.Phrases, phrase)
			continue
		default:
			continue
		}
		words.WriteString(s[kept:begin])
		kept = end
	}
	words.WriteString(s[kept:])
	q.Words = words.String()
	switch {
	case len(q.Phrases)+len(q.Without) > mostConditions:
		q = Question{Words: s, Remarks: []string{fmt.Sprintf("with more than %d phrases and exclusions, all is read as words",
			mostConditions)}}
	case len(q.Without) > 0 && len(Terms(q.Words)) == 0:
		q = Question{Words: s, Remarks: []string{"a question that only leaves out is read as words"}}
	case len(q.Without) > 0:
		q.Remarks = append(q.Remarks, "what contains "+Quoted(q.Without)+" is left out")
	}
	if strings.Count(s, `"`) == 1 && opening().MatchString(s) {
		q.Remarks = append(q.Remarks, "a quote has no end, and is read as words")
	}
	if pattern := pattern().FindStringSubmatch(s); pattern != nil {
		q.Remarks = append(q.Remarks, pattern[1]+" is no pattern, and is read as a word")
	}
	return q
}

var (
	opening = Expression(`(?:^|[\s(-])"\S`)
	pattern = Expression(`(?:^|\s)(\pL[^\s*]*\*)(?:\s|$)`)
)

// group is a part of a match; empty if it is missing.
func group(s string, at []int, i int) string {
	if at[2*i] < 0 {
		return ""
	}
	return s[at[2*i]:at[2*i+1]]
}

// follows tells whether an operator stands where it can be one, after some word.
func follows(s string, begin int, operator, before string) bool {
	if last, _ := utf8.DecodeLastRuneInString(s[:begin]); begin > 0 && !unicode.IsSpace(last) && last != '(' {
		return false
	}
	switch before = strings.ToLower(before); before {
	case "", "and", "or", "but":
		return true
	}
	return operator == "-" || !IsStopWord(TermOf(Fold(before)))
}

// isExcluded tells whether an operator leaves out a word.
func isExcluded(operator, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	if operator != "-" && word == strings.ToUpper(word) && word != strings.ToLower(word) {
		return false
	}
	const shortest = 3
	return unicode.IsLetter(first) && (utf8.RuneCountInString(word) >= shortest || first >= utf8.RuneSelf) &&
		!IsStopWord(TermOf(Fold(word)))
}

// Quoted lists phrases, long ones by their beginnings.
func Quoted(phrases []string) string {
	const mostTokens = 20
	short := make([]string, len(phrases))
	for i, phrase := range phrases {
		short[i] = `"` + shorten(plain(phrase), mostTokens) + `"`
	}
	return strings.Join(short, ", ")
}

// Contains tells whether a text has a phrase of whole words, in any case, with any marks and any space.
func Contains(s, phrase string) bool {
	s, phrase = plain(s), plain(phrase)
	for from := 0; phrase != ""; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			break
		}
		begin := from + i
		if !joined(s, begin) && !joined(s, begin+len(phrase)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(s[begin:])
		from = begin + size
	}
	return false
}

func plain(s string) string { return strings.Join(strings.Fields(Fold(normalize(s))), " ") }

// joined tells whether the characters before and after a place belong to one word.
func joined(s string, at int) bool {
	if at == 0 || at == len(s) {
		return false
	}
	_, size := utf8.DecodeLastRuneInString(s[:at])
	last, _ := classAt(s, at-size)
	next, _ := classAt(s, at)
	return last == classWord && next == classWord
}
