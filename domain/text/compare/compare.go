// Package compare tells whether two items say the same, contradict each other, or neither.
//
// Its one rule: it needs no model and no database, and its verdict contains nothing of the texts.
package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what two items are to each other.
type Kind string

// The kinds.
const (
	Duplicate     Kind = "duplicate"
	Contradiction Kind = "contradiction"
	Unrelated     Kind = "unrelated"
)

// Item is what is compared of an item.
type Item struct {
	Task     string
	Content  string
	Tags     map[string][]string
	Negative bool // it says what to avoid
}

// Verdict is the result of a comparison.
type Verdict struct {
	Kind    Kind
	Score   float64 // 0…1: how much of the subject the two share
	Rule    string  // the name of the rule that decided; empty if none did
	Another bool    // they are the same statement but for one place, where each says something else
}

// The rules that decide.
const (
	SameText     = "same_text"
	Paraphrase   = "paraphrase"
	Number       = "number"
	Date         = "date"
	Time         = "time"
	Version      = "version"
	Symbol       = "symbol"
	Negation     = "negation"
	Polarity     = "polarity"
	Owner        = "owner"
	Order        = "order"         // who does it to whom, or what comes first
	OtherSubject = "other_subject" // other names, places or tags
	OtherAspect  = "other_aspect"  // each says something that the other lacks
	Unsure       = "unsure"        // they share nearly all words, and something that they lack may matter
)

// The thresholds were chosen on the set "dev" of testdata/pairs.ndjson.
const (
	leastScore = 0.66
	leastDice  = 0.6
	mostBeside = 0.32
	surelyDice = 0.8
	waivedDice = 0.9

	mostHarmless = 0.2
	mostSwapped  = 3
	mostOrdered  = 12
	mostRelated  = 200
	mostBare     = 2 // words of two items that mostly consist of opposites
)

// Items compares two items.
func Items(a, b Item) Verdict { return Prepare(a).With(Prepare(b)) }

// Prepared is an item that is ready for several comparisons.
type Prepared struct {
	features
	tags map[string][]string
}

// Prepare reads the texts of an item.
func Prepare(item Item) Prepared { return Prepared{featuresOf(item), item.Tags} }

// With is [Items].
func (p Prepared) With(other Prepared) Verdict {
	f, g := p.features, other.features
	if f.plain == g.plain && f.negations == g.negations {
		return Verdict{Kind: Duplicate, Score: 1, Rule: SameText}
	}
	if f.unread || g.unread {
		return Verdict{Kind: Unrelated}
	}
	shares := f.overlap(g)
	verdict := Verdict{Kind: Unrelated, Score: shares.score}
	conflict, missing := f.conflict(g)
	turned, certain := f.turned(g)
	waived := f.waived != g.waived && f.negations == g.negations // only one says that something need not be
	swapped, exclusive, value := f.swapped(g)
	plain := swapped && conflict == "" && turned == ""
	verdict.Another = plain && value
	near := shares.dice >= surelyDice
	switch {
	case otherTags(p.tags, other.tags) || !f.sameValue(g, "who"):
		verdict.Rule, verdict.Another = OtherSubject, false
	case plain && exclusive:
		verdict.Kind, verdict.Rule = Contradiction, Owner
	case f.otherSubject(g):
		verdict.Rule = OtherSubject
	case swapped, conflict != "" && (turned != "" || f.negations > 0 && g.negations > 0):
		verdict.Rule = OtherAspect // never on Friday, and never on Saturday
	case conflict == "" && turned == "" && near && f.exchanged(g):
		verdict.Kind, verdict.Rule = Contradiction, Order
	case shares.score < leastScore || shares.dice < leastDice || shares.beside > mostBeside:
	case conflict != "" || turned != "":
		if verdict.Rule = Unsure; certain || conflict != "" {
			verdict.Kind, verdict.Rule = Contradiction, conflict+turned
		}
	case waived && shares.dice >= waivedDice:
		verdict.Kind, verdict.Rule = Contradiction, Polarity
	case missing == 0 && !certain:
		verdict.Rule = Unsure
	case missing > 0 || waived || f.otherMarks(g) || !f.sameAs(g):
		if verdict.Rule = OtherAspect; near && missing < 2 {
			verdict.Rule = Unsure
		}
	default:
		verdict.Kind, verdict.Rule = Duplicate, Paraphrase
	}
	return verdict
}

// overlap tells how much two items share. Each share is 0…1.
type overlap struct {
	score  float64 // of the subject, for the caller
	dice   float64 // of all that both say
	beside float64 // what both have alone, of what the shorter one says
}

// besides are opposites of which an item may say one side without meaning more.
var besides = map[string]bool{required: true, permitted: true, before: true, "first": true, "like": true, "least": true}

func (f features) overlap(g features) overlap {
	shared, left := f.against(g)
	_, right := g.against(f)
	for key := range f.values {
		if g.values[key] != nil && key != "who" && key != "year" {
			shared += 0.5
		}
	}
	for key := range f.opposites {
		if _, both := g.opposites[key]; both && len(f.words)+len(g.words) <= mostBare {
			shared += 0.5
		}
	}
	if shared == 0 {
		return overlap{beside: 1}
	}
	least := shared + min(left, right)
	dice := 2 * shared / (2*shared + left + right)
	return overlap{score: (dice + shared/least) / 2, dice: dice, beside: min(left, right) / least}
}

// against weighs what is in both items, and what g lacks.
func (f features) against(g features) (shared, alone float64) {
	short := len(f.subject)+len(g.subject) <= mostRelated // what follows takes the product of both
	denied := short && g.deniesAny(f)
	for name, weight := range f.words {
		switch other := g.words[name]; {
		case other > 0:
			shared += min(weight, other)
		case !short:
			alone += weight
		case denied, f.denies(name, g):
			shared += weight / 2
		case f.bridges(name, g):
			alone += weight / 4
		default:
			alone += weight
		}
	}
	return shared, alone
}

// bridges reports whether a pair of Han characters begins with the end of a pair that both items have. It probably
// consists of parts of two words.
func (f features) bridges(name string, g features) bool {
	first, n := utf8.DecodeRuneInString(name)
	return first >= utf8.RuneSelf && n < len(name) && slices.ContainsFunc(f.subject, func(other string) bool {
		return g.words[other] > 0 && strings.HasSuffix(other, name[:n])
	})
}

// prefixes turn a word round: unavailable, non-smoking.
var prefixes = []string{"un", "in", "im", "ir", "dis", "non-", "non"}

// sameAs reports whether nothing that carries meaning differs: each word of one is in the other, "only" and "not" are
// about the same, and no two words changed places.
func (f features) sameAs(g features) bool {
	switch {
	case !f.within(g) || !g.within(f) || !maps.Equal(f.mixed, g.mixed):
	case f.narrowed != g.narrowed && f.narrowed != "" && g.narrowed != "":
	case f.negations == g.negations && (lacks(f.denied, g.denied) && lacks(g.denied, f.denied) ||
		lacks(f.first, g.first) && lacks(g.first, f.first)):
	case f.exchanged(g) || f.otherActor(g) || g.otherActor(f):
	default:
		return len(f.order)+len(g.order) <= 4*mostOrdered || slices.Equal(f.order, g.order)
	}
	return false
}

// within reports whether the other item has all that this one says.
func (f features) within(g features) bool {
	denied := g.deniesAny(f)
	for name, weight := range f.words {
		if g.words[name] == 0 && weight > mostHarmless && !denied && !f.denies(name, g) && !f.bridges(name, g) {
			return false
		}
	}
	for name := range f.opposites {
		if _, both := g.opposites[name]; !both && !besides[name] {
			return false
		}
	}
	return true
}

// denies reports whether a word that g lacks is the opposite of a word that only g has: unavailable of available.
func (f features) denies(name string, g features) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		bare, is := strings.CutPrefix(name, prefix)
		if !is || g.words[name] > 0 {
			return false
		}
		bare = cmp.Or(vocabulary()[bare].name, bare)
		return g.words[bare] > 0 && f.words[bare] == 0
	})
}

// deniesAny reports whether a word is the opposite of one that only g has.
func (f features) deniesAny(g features) bool {
	return slices.ContainsFunc(f.subject, func(name string) bool { return f.denies(name, g) })
}

// otherSubject reports whether each item has a name or a place that the other one lacks.
func (f features) otherSubject(g features) bool {
	return lacks(g.words, f.names) && lacks(f.words, g.names) || lacks(g.words, f.places) && lacks(f.words, g.places)
}

// otherMarks reports whether a mark is in one item only. "Only after" and "not before" say the same.
func (f features) otherMarks(g features) bool {
	return !maps.Equal(f.marks, g.marks) &&
		(f.negations == g.negations || f.marks["only"] == g.marks["only"])
}

// sameValue reports whether two items have a value of a measure in common, or one has none.
func (f features) sameValue(g features, measured string) bool {
	mine, others := f.values[measured], g.values[measured]
	return mine == nil || others == nil || !lacks(others, mine) || !lacks(mine, others)
}

// otherTags reports whether a tag has no value in common.
func otherTags(a, b map[string][]string) bool {
	for key, values := range a {
		others := b[key]
		if key == "category" || key == "labels" || key == "key" || len(values) == 0 || len(others) == 0 {
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(others, v) }) {
			return true
		}
	}
	return false
}

// conflict is the rule by which values contradict each other: of the same measure, each has one that the other lacks,
// or they stand in another order. missing counts the items that have a value that the other one lacks.
func (f features) conflict(g features) (rule string, missing int) {
	for _, measured := range slices.Sorted(maps.Keys(f.values)) {
		if measured != "who" && !f.sameValue(g, measured) {
			return ruleOf(measured), 0
		}
	}
	mine, others := f.allValues(g), g.allValues(f)
	if missing = count(lacks(mine, others)) + count(lacks(others, mine)); missing > 0 {
		return "", missing
	}
	if slices.Equal(f.subject, g.subject) && !slices.Equal(f.sequence, g.sequence) &&
		slices.Equal(slices.Sorted(slices.Values(f.sequence)), slices.Sorted(slices.Values(g.sequence))) {
		return Number, 0
	}
	return "", 0
}

// allValues are the values of all measures, but for the year of a date that the other item gives without it.
func (f features) allValues(g features) map[string]bool {
	all := map[string]bool{}
	for measured, values := range f.values {
		dated := f.values["date"] != nil || f.values["month"] != nil
		if measured == "who" || measured == "year" && dated && g.values["year"] == nil {
			continue
		}
		for value := range values {
			if rule := ruleOf(measured); rule == Time || rule == Date || measured == "number percent" {
				value = measured + " " + value // Tuesday is not two approvals
			}
			all[value] = true
		}
	}
	return all
}

// lacks reports whether some value is not among those that an item has.
func lacks[V any](has map[string]V, values map[string]bool) bool {
	for value := range values {
		if _, there := has[value]; !there {
			return true
		}
	}
	return false
}

func ruleOf(measured string) string {
	switch {
	case measured == "clock" || measured == "half" || measured == "weekday":
		return Time
	case measured == "date" || measured == "month" || measured == "year":
		return Date
	case measured == "symbol":
		return Symbol
	case len(measured) > 7 && measured[:7] == "version":
		return Version
	}
	return Number
}

// turned is the rule by which one item says the opposite of the other one. Two negations, or a negation of the
// opposite, say the same. It is certain if the other item says what is denied.
func (f features) turned(g features) (rule string, certain bool) {
	turns, differ := 0, max(f.negations, g.negations)-min(f.negations, g.negations)
	ordered, reversed := f.sooner(g)
	turns += count(reversed)
	for key, side := range f.opposites {
		other, both := g.opposites[key]
		if both && other != side && (key != required || f.waived != g.waived) && (key != before || !ordered) {
			turns++
		}
	}
	for name := range f.words {
		turns += count(f.denies(name, g))
	}
	for name := range g.words {
		turns += count(g.denies(name, f))
	}
	mine, others := f.duty(), g.duty()
	turns += count(f.negations+g.negations == 0 && mine != "" && others != "" && mine != others)
	switch {
	case turns == 0 && differ == 0 && len(f.first) > 0 && len(g.first) > 0 && f.says(g.first, f.denied) &&
		g.says(f.first, g.denied): // Go, not C; C, not Go
		return Negation, true
	case turns == 0 && differ > 0:
		return Negation, f.says(g.first, nil) && g.says(f.first, nil) && !f.lacking(g) && !g.lacking(f)
	case (turns+differ)%2 == 1:
		return Polarity, true
	}
	return "", turns == 0 || differ == 0 || f.marks["only"] != g.marks["only"] || !reversed
}

// lacking reports whether an item says of something that it is not so by a word of its own: unsupported.
func (f features) lacking(g features) bool {
	for name, side := range f.opposites {
		if _, both := g.opposites[name]; !both && !side && !besides[name] {
			return true
		}
	}
	return false
}

// says reports whether an item says all of some words, and none of them among others.
func (f features) says(words, others map[string]bool) bool {
	for name := range words {
		_, opposite := f.opposites[name]
		if f.words[name] == 0 && !opposite || others[name] {
			return false
		}
	}
	return true
}

// duty is what an item says must be, or may be; empty if neither.
func (f features) duty() string {
	_, may := f.opposites[permitted]
	switch _, must := f.opposites[required]; {
	case must && !f.waived:
		return required
	case may && !must:
		return permitted
	}
	return ""
}
