package compare

import (
	"slices"
	"unicode/utf8"
)

// Words that another name beside them contradicts: the owner's and the recipient's.
var (
	doing     = []string{"owner", "lead", "approve", "people"}
	receiving = []string{"alert", "contact"}
	sending   = []string{"send", "report", "answer", "alert", "owner", "contact"}
)

// swapped reports whether the items consist of the same words in the same order, but for a few in one place: the
// template is the same, and the subject is not. exclusive tells that the other words are about an owner, an agent or a
// recipient, so that not both can be meant; value, that they follow what is the same, as a value does.
func (f features) swapped(g features) (swapped, exclusive, value bool) {
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
	if len(inA) == 0 || len(inB) == 0 || max(len(inA), len(inB)) > mostSwapped ||
		head+tail == 0 && len(f.order) == len(a) ||
		f.roles[inA[0]] != g.roles[inB[0]] || f.denies(inA[0], g) || g.denies(inB[0], f) ||
		slices.ContainsFunc(inA, func(name string) bool { return slices.Contains(inB, name) }) {
		return false, false, false
	}
	value = (head > 0 || len(f.order) > len(a)) && !f.places[inA[0]] && !g.places[inB[0]]
	han := inA[0][0] >= utf8.RuneSelf
	named := f.names[inA[0]] && g.names[inB[0]]
	holds := func(words []string) func(string) bool {
		return func(name string) bool { return slices.Contains(words, name) }
	}
	switch f.roles[inA[0]] {
	case "by":
		return true, true, value
	case "to":
		return true, named || han || slices.ContainsFunc(a[:head], holds(sending)), value
	case "is", "from":
		return true, named && tail == 0, value
	case "for": // whom one asks excludes others, what one asks for does not
		return true, named, value
	}
	return true, head > 0 && (holds(receiving)(a[head-1]) || han && a[head-1] == "owner") ||
		head == 0 && tail > 0 && holds(doing)(a[len(a)-tail]), value
}

// exchanged reports whether two words took each other's place: Anna reports to Ben, and Ben reports to Anna.
func (f features) exchanged(g features) bool {
	var common []string
	if len(f.order)+len(g.order) > 4*mostOrdered { // a long text may say the same in any order
		return false
	}
	for _, name := range f.order {
		if g.roles[name] != "*" && f.roles[name] != "*" && slices.Contains(g.order, name) && !slices.Contains(common, name) {
			common = append(common, name)
		}
	}
	at := func(name string) int { return slices.Index(g.order, name) }
	symmetric := map[string]bool{before: true, "after": true, "first": true, "then": true, "is": true}
	directed := map[string]bool{"from": true, "to": true, "by": true}
	for i, x := range common {
		for j, y := range common[i+1:] {
			p, q := f.roles[x], f.roles[y]
			if p != q && g.roles[x] == q && g.roles[y] == p && !symmetric[p] && !symmetric[q] &&
				(p+q != "with" || slices.Contains(f.order, "replac")) {
				return true
			}
			if p == q && g.roles[x] == p && g.roles[y] == p && at(y) < at(x) && directed[p] {
				return true
			}
			for _, between := range common[i+1 : i+1+j] { // the same words the other way round
				same := g.roles[x] == p && g.roles[y] == q && p == q
				passive := p == "" && q == "is" && g.roles[x] == q && g.roles[y] == p && f.roles[between] == q &&
					g.roles[between] == q
				if at(y) < at(between) && at(between) < at(x) && (same || passive) {
					return true
				}
			}
		}
	}
	return false
}

// otherActor reports whether this item names the actor after "by", and the other one names it after what is acted on:
// Kim is managed by Lee, and Kim manages Lee.
func (f features) otherActor(g features) bool {
	i := slices.IndexFunc(f.order, func(name string) bool { return f.roles[name] == "by" })
	if i < 0 || g.roles[f.order[i]] == "by" {
		return false
	}
	actor := slices.Index(g.order, f.order[i])
	return slices.ContainsFunc(f.order[:i], func(name string) bool {
		at := slices.Index(g.order, name)
		return 0 <= at && at < actor && g.roles[name] == g.roles[f.order[i]]
	})
}

// sooner reports whether both items tell what comes first, and whether they tell it the other way round.
func (f features) sooner(g features) (known, reversed bool) {
	early, late := f.times()
	early2, late2 := g.times()
	if len(early)*len(late)*len(early2)*len(late2) == 0 {
		return false, false
	}
	balance := 0
	for name := range early {
		balance += count(early2[name]) - count(late2[name])
	}
	for name := range late {
		balance += count(late2[name]) - count(early2[name])
	}
	return balance != 0, balance < 0
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// times are the words about what happens first and about what happens later.
func (f features) times() (early, late map[string]bool) {
	early, late = map[string]bool{}, map[string]bool{}
	rest := map[string]bool{}
	for name, role := range f.roles {
		switch role {
		case "after", "first":
			early[name] = true
		case before, "then":
			late[name] = true
		default:
			rest[name] = true
		}
	}
	switch {
	case len(early) == 0:
		early = rest
	case len(late) == 0:
		late = rest
	}
	return early, late
}
