package compare

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/domain/text"
)

// features are what is compared of an item.
type features struct {
	plain     string             // task and content, but for case, spaces and the last full stop
	unread    bool               // the lexer does not read all of it, so nothing else is compared
	words     map[string]float64 // with names and places: their weights
	names     map[string]bool
	places    map[string]bool
	values    map[string]map[string]bool // by what they measure
	sequence  []string                   // the values in their order
	opposites map[string]bool            // true for the plus side
	mixed     map[string]bool            // the opposites of which it names both sides
	marks     map[string]bool
	narrowed  string          // the word after "only"
	negations int             // clauses that are turned round
	denied    map[string]bool // the words in them
	first     map[string]bool // the first words in them, to which the negation belongs
	waived    bool            // it says that something need not be
	subject   []string        // words, names and places in their order
	order     []string        // with pronouns
	roles     map[string]string
}

// Names of opposites that a text often says beside the point, or of different things in any order.
const (
	required  = "required" // by which something must be, or need not be
	permitted = "permitted"
	before    = "before"
)

// mostCompared limits the runes of a text that is read. mostAfter is how many tokens after one are looked at, and
// mostBefore how many words of a clause before one.
const (
	mostCompared = 4000
	mostAfter    = 6
	mostBefore   = 100
)

// symbol finds what distinguishes C++ from C# and $100 from €100, and a question from a statement.
var symbol = text.Expression(`[+#<>≤≥≠±?\p{Sc}\p{So}]+|!=`)

// opening finds the beginning of a correction, and the task of what was learned from a conversation.
var opening = text.Expression(`(?i)^(?:What the user prefers|Who the user is|What happened, or was decided|` +
	`What the user's world is like|用户的偏好|用户是谁|发生或决定的事|用户所说的事实)?\n\s*` +
	`(?:(?:no|nope|wrong|sorry|oops|correction|wait|不对|错了|不是这样|更正|纠正|抱歉|对不起|不好意思|说错了)\s*[,.:!。]\s*|` +
	`(?:i (?:actually )?mean(?:t)?(?: to say)?(?: that)?\b|我是说|我的意思是|我说的是)[,:]?\s*)*`)

// acronym is a name that is another word in lower case.
var acronym = text.Expression(`\b(?:US|IT|WHO|AM|ME|HE|AS|BE|AT)\b`)

// hasCapitals reports whether a capital of ASCII follows another one.
func hasCapitals(s string) bool {
	for i := 1; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' && 'A' <= s[i-1] && s[i-1] <= 'Z' {
			return true
		}
	}
	return false
}

// isUnread reports whether the lexer passes over a letter or a digit.
func isUnread(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Han, r)
}

func featuresOf(item Item) features {
	original := opening().ReplaceAllString(norm.NFKC.String(item.Task+"\n"+item.Content), "")
	plain := strings.ToLower(original)
	if hasCapitals(original) && strings.ToUpper(original) != original { // they distinguish what is written with others
		plain = acronym().ReplaceAllStringFunc(original, func(s string) string { return s + "_" })
	}
	plain = strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(plain)), " "), ".。")
	f := features{
		plain: plain, words: map[string]float64{}, names: map[string]bool{}, places: map[string]bool{},
		values: map[string]map[string]bool{}, opposites: map[string]bool{}, mixed: map[string]bool{},
		marks: map[string]bool{}, denied: map[string]bool{}, first: map[string]bool{}, roles: map[string]string{},
	}
	if item.Negative {
		f.negations++
	}
	if f.unread = utf8.RuneCountInString(original) > mostCompared || strings.ContainsFunc(original, isUnread); f.unread {
		return f
	}
	for _, s := range symbol().FindAllString(original, -1) {
		f.add("symbol", s)
	}
	tokens := append(tokensOf(partsOf(original)), token{kind: boundary})
	tokens = append(tokens, make([]token, mostAfter)...) // what follows may be looked at everywhere
	nameNouns(tokens)
	c, narrows := clause{denies: -1}, false
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.kind {
		case unit:
			if slices.Contains(things, t.name) {
				t.kind, f.words[t.name] = word, weightOf(t.name)
			}
		case word:
			f.words[t.name] = max(f.words[t.name], t.factor*weightOf(t.name))
		case name:
			f.named(f.names, t.name)
		case place:
			f.named(f.places, t.name)
		case plus, minus:
			if side, known := f.opposites[t.name]; known && side != (t.kind == plus) {
				f.mixed[t.name] = true
			}
			f.opposites[t.name] = t.kind == plus
			f.waived = f.waived || t.kind == minus && t.name == required
			f.turnRole(&c, t)
		case not:
			c.deny()
		case except:
			f.excepted(&c, t)
		case role:
			if c.role = t.name; t.name == "over" && tokens[i+1].kind == number {
				f.opposites["over"] = true
			}
		case mark:
			f.marks[t.name] = true
			narrows = t.name == "only"
		case who:
			f.add("who", t.name)
			f.order = append(f.order, t.name)
		case version:
			f.add("version "+t.noun, t.name)
		case date:
			f.add("date", t.name)
			f.add("year", format(t.factor))
		case weekday:
			f.add("weekday", t.name)
		case clock:
			f.add("clock", minutes(t.factor, tokens[max(0, i-1)], tokens[i+1]))
		case half:
			if !tokens[max(0, i-1)].isTime() && !tokens[i+1].isTime() {
				f.add("half", t.name)
			}
		case month:
			i += f.monthDay(tokens, i)
		case number:
			i += f.number(tokens, i)
		case boundary:
			f.end(c)
			c = clause{denies: -1}
		}
		if t.isSubject() || t.isOpposite() {
			if narrows {
				f.narrowed, narrows = t.name, false
			}
			c.words = append(c.words, t.name)
		}
		if t.isSubject() || t.isOpposite() && !besides[t.name] {
			f.placed(c.role, t.name)
		}
	}
	return f
}

// clause is a part of a sentence.
type clause struct {
	role   string   // of the words that follow
	words  []string // its words so far
	denies int      // how many words stand before its negation; -1 if it has none
}

// deny turns the clause round, or back.
func (c *clause) deny() {
	if c.denies >= 0 {
		c.denies = -1
	} else {
		c.denies = len(c.words)
	}
}

// end adds what a clause denies: the words after its negation, or all if none follow.
func (f *features) end(c clause) {
	if c.denies < 0 {
		return
	}
	f.negations++
	denied := c.words[c.denies:]
	if len(denied) > 0 {
		f.first[denied[0]] = true
	}
	for _, name := range c.words {
		f.denied[name] = true
	}
}

// excepted reads "not until" as "only after", and "not unless" as "only if".
func (f *features) excepted(c *clause, t token) {
	switch {
	case c.denies >= 0:
		c.denies = -1
		f.marks["only"] = true
		if t.name == "until" {
			f.opposites[before], c.role = false, "after"
		}
	case t.name == "until":
		f.words["expiry"] = weightOf("expiry")
	default:
		f.opposites["exclusive"] = false
	}
}

// turnRole tells what happens before something else, or first. In Chinese, the word stands behind it.
func (f *features) turnRole(c *clause, t token) {
	if t.name != before && t.name != "first" || t.kind == minus && t.name == "first" {
		return
	}
	name := "first"
	if t.name == before {
		name = map[kind]string{plus: before, minus: "after"}[t.kind]
	}
	if t.factor > 0 {
		c.role = name
		return
	}
	if t.kind == minus && c.role == "first" { // 先…后…
		c.role = "then"
		delete(f.opposites, before)
		return
	}
	for _, word := range c.words[max(0, len(c.words)-mostBefore):] {
		if f.roles[word] != "" || f.words[word] > 0 {
			f.roles[word] = name
		}
	}
}

// placed notes the role of a word. A word in two roles has none of its own.
func (f *features) placed(role, name string) {
	f.subject, f.order = append(f.subject, name), append(f.order, name)
	if had, twice := f.roles[name]; twice && had != role {
		role = "*"
	}
	f.roles[name] = role
}

func (f *features) named(names map[string]bool, name string) {
	names[name], f.words[name] = true, 1
}

func (f *features) add(measured, value string) {
	if ruleOf(measured) == Number {
		f.sequence = append(f.sequence, value)
	}
	if f.values[measured] == nil {
		f.values[measured] = map[string]bool{}
	}
	f.values[measured][value] = true
}

// monthDay adds the date of an English month with the day on one of its sides. It returns how many tokens follow.
func (f *features) monthDay(tokens []token, i int) int {
	m := numberOf(tokens[i].name)
	if tokens[i+1].kind == number && tokens[i+1].factor <= 31 {
		f.add("date", dateName(m, tokens[i+1].factor))
		return 1 + f.yearAt(tokens, i+2)
	}
	f.add("month", tokens[i].name)
	return f.yearAt(tokens, i+1)
}

// yearAt adds the year at i, if there is one. It returns how many tokens it takes.
func (f *features) yearAt(tokens []token, i int) int {
	for n, t := range tokens[i : i+3] {
		if t.isYear() {
			f.add("year", format(t.factor))
			return n + 1
		}
		if t.kind != boundary && t.name != "monthday" && t.kind != stop {
			break
		}
	}
	return 0
}

// isTime reports whether the half of a day beside the token belongs to it.
func (t token) isTime() bool {
	return t.kind == number || t.kind == clock || t.name == "clock" || t.kind == half
}

func (t token) isYear() bool { return t.kind == number && t.factor >= 1900 && t.factor <= 2100 }

// number adds a number with what it measures: its unit, the word after it or the word before it. It returns how many
// of the following tokens belong to it.
func (f *features) number(tokens []token, i int) int {
	n, after, previous := tokens[i], tokens[i+1], token{}
	if i > 0 {
		previous = tokens[i-1]
	}
	switch {
	case after.kind == unit && after.name == "year" && n.isYear():
		f.add("year", format(n.factor))
		return 1
	case after.kind == unit && after.name == "year":
		f.add("number month", format(12*n.factor))
		return 1
	case n.isYear() && after.kind != unit && previous.kind != name:
		f.add("year", format(n.factor))
	case previous.kind == ordinal:
		f.named(f.names, previous.name+"#"+n.digits(1))
	case after.kind == ordinal && strings.Contains("步章节", after.name):
		f.named(f.names, after.name+"#"+n.digits(1))
		return 1
	case after.kind == month && n.factor <= 31:
		f.add("date", dateName(numberOf(after.name), n.factor))
		return 1 + f.yearAt(tokens, i+2)
	case after.name == "monthday" && tokens[i+2].name == "of" && tokens[i+3].kind == month:
		f.add("date", dateName(numberOf(tokens[i+3].name), n.factor))
		return 3 + f.yearAt(tokens, i+4)
	case after.kind == half, after.kind == unit && after.name == "clock":
		f.add("clock", minutes(n.factor*60+after.factor, previous, after))
		return 1
	case after.kind == unit && after.name == "monthname":
		if tokens[i+2].kind == number {
			f.add("date", dateName(n.factor, tokens[i+2].factor))
			return 2 + count(tokens[i+3].name == "monthday")
		}
		f.add("month", format(n.factor))
		return 1
	case after.kind == unit && after.name == "times" && n.factor == 1: // once
		return 1
	case after.kind == unit && after.name == "times" && previous.name == "persecond":
		f.add("number rate", n.digits(1))
		return 1
	case after.kind == unit:
		f.add("number "+after.name, n.digits(after.factor))
		return 1
	case previous.kind == name, previous.kind == word && strings.Contains(n.name, "."):
		f.add("version "+previous.name, n.name)
	case previous.kind == word && slices.Contains(measures, previous.name), n.noun == "port":
		f.add("number "+n.noun, n.digits(1))
	case previous.kind == word:
		f.named(f.names, previous.name+"#"+n.digits(1))
	case after.kind == word:
		f.add("number "+after.name, n.digits(1))
	default:
		f.add("number "+n.noun, n.digits(1))
	}
	return 0
}

// things are units that are words, too, if no number stands before them.
var things = []string{"people", "copies", "parts", "nodes", "links", "workers", "items", "letters"}

// measures are words after which a number is a value. After another word it is a name: release 8.
var measures = []string{"port", "limit", "timeout", "size", "length", "interval"}

// nameNouns tells each token the nearest word before it.
func nameNouns(tokens []token) {
	noun := ""
	for i, t := range tokens {
		tokens[i].noun = noun
		if t.isSubject() || t.isOpposite() && t.name != required {
			noun = t.name
		}
	}
}

// minutes is a time of the day between two tokens.
func minutes(m float64, previous, after token) string {
	if (previous.name == "pm" || after.kind == half && after.name == "pm") && m < 12*60 {
		m += 12 * 60
	}
	return format(m)
}

// exact is how many digits a value has at most that a float64 holds, also after it was multiplied.
const exact = 12

// digits are a number's in a unit, or those that were written, of a longer one.
func (t token) digits(inUnit float64) string {
	if len(t.name) > exact {
		return strings.ReplaceAll(t.name, ",", "")
	}
	return format(t.factor * inUnit)
}

func format(n float64) string { return strconv.FormatFloat(n, 'g', exact, 64) }

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
