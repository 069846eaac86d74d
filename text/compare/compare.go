// Package compare tells whether two items say the same, contradict each other, or neither.
//
// Its one rule: it needs no model and no database, and its verdict contains nothing of the texts.
package compare

import (
	"maps"
	"slices"
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
	Kind  Kind
	Score float64 // 0…1: how much of the subject the two share
	Rule  string  // the name of the rule that decided; empty if none did
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
	OtherSubject = "other_subject" // other names, places or tags
	OtherAspect  = "other_aspect"  // each says something that the other lacks
)

// The thresholds were chosen on the set "dev" of testdata/pairs.ndjson.
const (
	duplicateScore  = 0.66
	duplicateDice   = 0.6
	duplicateBeside = 0.32

	contradictionScore  = 0.62
	contradictionDice   = 0.6
	contradictionBeside = 0.16
	waivedDice          = 0.9

	mostSwapped = 3
)

// Unknown is the meaning that two items have in common if one of them has no vector.
const Unknown = -1.0

// Items compares two items. Meaning is the similarity of their vectors by an embedder, calibrated to 0…1, or Unknown.
func Items(a, b Item, meaning float64) Verdict { return Prepare(a).With(Prepare(b), meaning) }

// Prepared is an item that is ready for several comparisons.
type Prepared struct {
	features
	tags map[string][]string
}

// Prepare reads the texts of an item.
func Prepare(item Item) Prepared { return Prepared{featuresOf(item), item.Tags} }

// With is [Items].
func (p Prepared) With(other Prepared, meaning float64) Verdict {
	f, g := p.features, other.features
	if f.plain == g.plain && f.negated == g.negated {
		return Verdict{Duplicate, 1, SameText}
	}
	if f.unread || g.unread {
		return Verdict{Kind: Unrelated, Score: max(0, meaning)}
	}
	shares := f.overlap(g)
	verdict := Verdict{Kind: Unrelated, Score: shares.score}
	if meaning != Unknown {
		verdict.Score = max(shares.score, (3*shares.score+meaning)/4)
	}
	if f.otherSubject(g) || otherTags(p.tags, other.tags) {
		verdict.Rule = OtherSubject
		return verdict
	}
	conflict, missing := f.conflict(g)
	turned := f.turned(g)
	waived := f.waived != g.waived && f.negated == g.negated // only one says that something need not be
	swapped, owner := f.swapped(g)
	switch {
	case swapped && owner && conflict == "" && turned == "":
		verdict.Kind, verdict.Rule = Contradiction, Owner
	case swapped, conflict != "" && (turned != "" || f.negated && g.negated):
		verdict.Rule = OtherAspect // never on Friday, and never on Saturday
	case conflict != "" || turned != "":
		if verdict.Score >= contradictionScore && shares.dice >= contradictionDice && shares.beside <= contradictionBeside {
			verdict.Kind, verdict.Rule = Contradiction, conflict+turned
		}
	case verdict.Score < duplicateScore || shares.dice < duplicateDice || shares.beside > duplicateBeside:
	case missing, waived && shares.dice < waivedDice:
		verdict.Rule = OtherAspect
	case waived:
		verdict.Kind, verdict.Rule = Contradiction, Polarity
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

func (f features) overlap(g features) overlap {
	shared, left := f.against(g)
	_, right := g.against(f)
	for key := range f.opposites {
		if _, both := g.opposites[key]; both {
			shared += 0.5
		}
	}
	for key := range f.values {
		if g.values[key] != nil {
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

// against weighs the words that are in both items, and those that g lacks.
func (f features) against(g features) (shared, alone float64) {
	for name, weight := range f.words {
		if other := g.words[name]; other > 0 {
			shared += min(weight, other)
		} else {
			alone += weight
		}
	}
	return shared, alone
}

// swapped reports whether the items consist of the same words in the same order, but for a few in one place: the
// template is the same, and the subject is not. owner tells that the other words are about an owner.
func (f features) swapped(g features) (swapped, owner bool) {
	a, b := f.subject, g.subject
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	inA, inB := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(inA) == 0 || len(inB) == 0 || max(len(inA), len(inB)) > mostSwapped || head+tail == 0 ||
		slices.ContainsFunc(inA, func(name string) bool { return slices.Contains(inB, name) }) {
		return false, false
	}
	return true, head > 0 && a[head-1] == "owner" || tail > 0 && a[len(a)-tail] == "owner"
}

// otherSubject reports whether each item has a name or a place that the other one lacks.
func (f features) otherSubject(g features) bool {
	return f.alone(f.names, g) && g.alone(g.names, f) || f.alone(f.places, g) && g.alone(g.places, f)
}

// alone reports whether one of the names does not occur in the other item at all.
func (f features) alone(names map[string]bool, g features) bool {
	for name := range names {
		if g.words[name] == 0 {
			return true
		}
	}
	return false
}

// otherTags reports whether a tag has no value in common.
func otherTags(a, b map[string][]string) bool {
	for key, values := range a {
		others := b[key]
		if key == "category" || key == "labels" || len(values) == 0 || len(others) == 0 {
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(others, v) }) {
			return true
		}
	}
	return false
}

// conflict is the rule by which values contradict each other: of the same measure, each has one that the other lacks.
// missing means that some value is in one item only.
func (f features) conflict(g features) (rule string, missing bool) {
	for _, measured := range slices.Sorted(maps.Keys(f.values)) {
		mine, others := f.values[measured], g.values[measured]
		if others != nil && lacks(others, mine) && lacks(mine, others) {
			return ruleOf(measured), false
		}
	}
	mine, others := f.allValues(), g.allValues()
	return "", lacks(mine, others) || lacks(others, mine)
}

func (f features) allValues() map[string]bool {
	all := map[string]bool{}
	for measured, values := range f.values {
		for value := range values {
			if rule := ruleOf(measured); rule == Time || rule == Date {
				value = measured + " " + value // Tuesday is not two approvals
			}
			all[value] = true
		}
	}
	return all
}

// lacks reports whether some value is not among those that an item has.
func lacks(has, values map[string]bool) bool {
	for value := range values {
		if !has[value] {
			return true
		}
	}
	return false
}

func ruleOf(measured string) string {
	switch {
	case measured == "clock" || measured == "weekday":
		return Time
	case measured == "date" || measured == "month":
		return Date
	case measured == "symbol":
		return Symbol
	case len(measured) > 7 && measured[:7] == "version":
		return Version
	}
	return Number
}

// turned is the rule by which one item says the opposite of the other one. Two negations, or a negation of the
// opposite, say the same.
func (f features) turned(g features) string {
	turns, rule := 0, Polarity
	if f.negated != g.negated {
		turns, rule = 1, Negation
	}
	for key, side := range f.opposites {
		if other, both := g.opposites[key]; both && other != side && (key != required || f.waived != g.waived) {
			turns++
			rule = Polarity
		}
	}
	if turns%2 == 1 {
		return rule
	}
	return ""
}
