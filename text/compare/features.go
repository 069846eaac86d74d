package compare

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/text"
)

// features are what is compared of an item.
type features struct {
	plain     string             // task and content, but for case, spaces and the last full stop
	unread    bool               // the lexer does not read all of it, so nothing else is compared
	words     map[string]float64 // with names and places: their weights
	names     map[string]bool
	places    map[string]bool
	values    map[string]map[string]bool // by what they measure
	opposites map[string]bool            // true for the plus side
	negated   bool
	waived    bool     // it says that something need not be
	subject   []string // words, names and places in their order
}

// required is the name of the opposites by which something must be, or need not be. A text often says both, of
// different things and in any order.
const required = "required"

// mostCompared limits the runes of a text that is read.
const mostCompared = 4000

// symbol finds what distinguishes C++ from C#, -20 from 20 and $100 from €100. A hyphen after a word is no minus sign.
var symbol = text.Expression(`[+#<>≤≥≠±\p{Sc}\p{So}]+|!=|\B-\d`)

// isUnread reports whether the lexer passes over a letter or a digit.
func isUnread(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Han, r)
}

func featuresOf(item Item) features {
	said := norm.NFKC.String(item.Task + "\n" + item.Content)
	plain := strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(said)), " "), ".。")
	if utf8.RuneCountInString(said) > mostCompared || strings.ContainsFunc(said, isUnread) {
		return features{plain: plain, unread: true, negated: item.Negative}
	}
	f := features{
		plain: plain, words: map[string]float64{}, names: map[string]bool{}, places: map[string]bool{},
		values: map[string]map[string]bool{}, opposites: map[string]bool{}, negated: item.Negative,
	}
	for _, s := range symbol().FindAllString(said, -1) {
		f.add("symbol", s)
	}
	tokens := tokensOf(partsOf(said))
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if t.isSubject() {
			f.subject = append(f.subject, t.name)
		}
		switch t.kind {
		case word:
			f.words[t.name] = weightOf(t.name)
		case name:
			f.named(f.names, t.name)
		case place:
			f.named(f.places, t.name)
		case not:
			f.negated = !f.negated
		case plus, minus:
			f.opposites[t.name] = t.kind == plus
			f.waived = f.waived || t.kind == minus && t.name == required
		case version:
			f.add("version "+nounBefore(tokens[:i]), t.name)
		case date:
			f.add("date", t.name)
		case weekday:
			f.add("weekday", t.name)
		case clock:
			f.add("clock", minutes(t.factor, i > 0 && tokens[i-1].name == "pm", tokens[i+1:]))
		case month:
			i += f.monthDay(tokens, i)
		case number:
			i += f.number(tokens, i)
		}
	}
	return f
}

func (f features) named(names map[string]bool, name string) {
	names[name], f.words[name] = true, 1
}

func (f features) add(measured, value string) {
	if f.values[measured] == nil {
		f.values[measured] = map[string]bool{}
	}
	f.values[measured][value] = true
}

// monthDay adds the date of an English month with the day on one of its sides. It returns how many tokens follow.
func (f features) monthDay(tokens []token, i int) int {
	m := numberOf(tokens[i].name)
	if i+1 < len(tokens) && tokens[i+1].kind == number && tokens[i+1].factor <= 31 {
		f.add("date", dateName(m, tokens[i+1].factor))
		return 1 + yearAt(tokens, i+2)
	}
	f.add("month", tokens[i].name)
	return 0
}

// yearAt is 1 if the token at i is a year, which dates are compared without.
func yearAt(tokens []token, i int) int {
	if i < len(tokens) && tokens[i].kind == number && tokens[i].factor >= 1900 && tokens[i].factor <= 2100 {
		return 1
	}
	return 0
}

// number adds a number with what it measures: its unit, the word after it or the word before it. It returns how many
// of the following tokens belong to it.
func (f features) number(tokens []token, i int) int {
	n := tokens[i]
	before, after := token{}, token{}
	if i > 0 {
		before = tokens[i-1]
	}
	if i+1 < len(tokens) {
		after = tokens[i+1]
	}
	switch {
	case after.kind == unit && after.name == "year":
		if n.factor < 1900 {
			f.add("number month", format(12*n.factor))
		}
		return 1
	case before.kind == ordinal:
		f.named(f.names, before.name+"#"+format(n.factor))
	case after.kind == ordinal && strings.Contains("步章节", after.name):
		f.named(f.names, after.name+"#"+format(n.factor))
		return 1
	case after.kind == month && n.factor <= 31:
		f.add("date", dateName(numberOf(after.name), n.factor))
		return 1 + yearAt(tokens, i+2)
	case after.kind == half, after.kind == unit && after.name == "clock":
		f.add("clock", minutes(n.factor*60+after.factor, before.name == "pm", tokens[i+1:]))
		return 1
	case after.kind == unit && after.name == "monthname":
		if i+2 < len(tokens) && tokens[i+2].kind == number {
			f.add("date", dateName(n.factor, tokens[i+2].factor))
			return 3
		}
		f.add("month", format(n.factor))
		return 1
	case after.kind == unit && after.name == "times" && n.factor == 1: // once
		return 1
	case after.kind == unit && after.name == "times" && before.name == "persecond":
		f.add("number rate", format(n.factor))
		return 1
	case after.kind == unit:
		f.add("number "+after.name, format(n.factor*after.factor))
		return 1
	case before.kind == name, before.kind == word && strings.Contains(n.name, "."):
		f.add("version "+before.name, n.name)
	case before.kind == word && slices.Contains(measures, before.name), nounBefore(tokens[:i]) == "port":
		f.add("number "+nounBefore(tokens[:i]), format(n.factor))
	case before.kind == word:
		f.named(f.names, before.name+"#"+format(n.factor))
	case after.kind == word:
		f.add("number "+after.name, format(n.factor))
	default:
		f.add("number "+nounBefore(tokens[:i]), format(n.factor))
	}
	return 0
}

// measures are words after which a number is a value. After another word it is a name: release 8.
var measures = []string{"port", "limit", "timeout", "size", "length", "interval"}

// nounBefore is the nearest word before a value.
func nounBefore(tokens []token) string {
	for _, t := range slices.Backward(tokens) {
		if t.isSubject() || (t.kind == plus || t.kind == minus) && t.name != required {
			return t.name
		}
	}
	return ""
}

// minutes is a time of the day, after the tokens that follow it.
func minutes(m float64, afternoon bool, after []token) string {
	for _, t := range after[:min(len(after), 1)] {
		afternoon = afternoon || t.kind == half && t.name == "pm"
	}
	if afternoon && m < 12*60 {
		m += 12 * 60
	}
	return format(m)
}

func format(n float64) string { return strconv.FormatFloat(n, 'g', 6, 64) }

// weightOf estimates how much a word distinguishes: longer words are rarer, and a single Han character says little.
func weightOf(word string) float64 {
	if word[0] < utf8.RuneSelf {
		return 0.4 + 0.1*float64(min(len(word), 6))
	}
	if utf8.RuneCountInString(word) == 1 {
		return 0.3
	}
	return 0.6
}
