package briefing

import (
	"math"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// The sections of an injection. A heading says what the items below it are.
const (
	preferences = "## User Preferences"
	skills      = "## Skills"
	cases       = "## Similar Cases"
	procedures  = "## Procedures"
	tools       = "## Tools"
	definitions = "## Definitions"
	documents   = "## Documents"
	profiles    = "## Preferences of Others"
	pitfalls    = "## Pitfalls"
	contested   = "## Contested: do not rely on"
)

// section is the heading of an item.
func (p picked) section() string {
	switch p.Aspect {
	case domain.Contested:
		return contested
	case domain.Failures:
		return pitfalls
	case domain.Preferences:
		return preferences
	case domain.Skills:
		return skills
	case domain.Cases:
		return cases
	case domain.Tools:
		return tools
	case domain.Background:
		switch {
		case p.whose != "":
			return profiles
		case p.Knowledge.ContextType == domain.Resource:
			return documents
		}
		return definitions
	default:
		return procedures
	}
}

// hintTokens limits the hints, which become part of another prompt with a list of skills.
const hintTokens = 150

// An item may add the section that fits best. An item that is about the question may add more.
const (
	sectionTokens = 300
	enough        = 0.5
)

// compose spends the tokens on the items in order of rank. Each item first gets a line, and its section about the
// question. Then come more passages about the question.
func compose(all []picked, about string, maxTokens int, degraded string) domain.Briefing {
	b := domain.Briefing{Degraded: degraded}
	t := telling{items: all, shown: make([]string, len(all)), about: about, room: maxTokens}
	t.spend()
	b.Injection = t.String()
	for i, item := range all {
		item.Included = t.shown[i] != ""
		b.Items = append(b.Items, item.Briefed)
	}
	b.Hints = hints(all, min(hintTokens, maxTokens))
	b.Tokens, b.HintTokens = text.Tokens(b.Injection), text.Tokens(b.Hints)
	return b
}

// telling is the text of each item so far; empty if it did not fit.
type telling struct {
	items []picked
	shown []string
	about string
	room  int // in tokens
}

func (t *telling) spend() {
	order := make([]int, len(t.items))
	for i, item := range t.items {
		order[item.rank] = i
	}
	for rank, i := range order {
		t.line(i, rank == 0)
		t.passage(i, 1, min(sectionTokens, text.Tokens(t.shown[i])+t.left()/2))
	}
	for _, i := range order {
		if score := t.items[i].Score; score == 0 || score >= enough {
			t.passage(i, math.MaxInt, text.Tokens(t.shown[i])+t.left())
		}
	}
}

func (t *telling) left() int { return t.room - text.Tokens(t.String()) }

// line adds a line for an item. A line that does not fit is skipped, so that shorter ones may fit; only the best item
// is cut.
func (t *telling) line(i int, cut bool) {
	line := t.items[i].line
	for tokens := stated / 2; !t.tell(i, line) && cut && tokens > 5; tokens /= 2 {
		line = text.Abstract(line, tokens)
	}
}

// passage adds what an item with a line says about the question.
func (t *telling) passage(i, sections, tokens int) {
	item, shown := t.items[i], t.shown[i]
	if shown == "" || shown == item.titled(oneLine(item.content)) && !strings.Contains(strings.TrimSpace(item.content),
		"\n") {
		return
	}
	for _, share := range [...]int{100, 85, 60} { // indents and line ends need tokens, too
		passage := text.Passage(item.content, t.about, sections, tokens*share/100)
		if passage == "" || sections > 1 && len(passage) <= len(shown) || t.tell(i, item.titled(passage)) {
			return
		}
	}
}

// tell sets the text of an item if it fits.
func (t *telling) tell(i int, what string) bool {
	before := t.shown[i]
	if t.shown[i] = what; text.Tokens(t.String()) > t.room {
		t.shown[i] = before
		return false
	}
	return true
}

// String has a section for each aspect with text.
func (t *telling) String() string {
	var out strings.Builder
	section := ""
	for i, item := range t.items {
		if t.shown[i] == "" {
			continue
		}
		if next := item.section(); next != section {
			if section != "" {
				out.WriteString("\n")
			}
			section = next
			out.WriteString(section + "\n\n")
		}
		out.WriteString("- " + item.bullet(t.shown[i]) + "\n")
	}
	return out.String()
}

// bullet is the text of an item, with its warnings, and the URI for reading on or voting. A text from outside stands
// below them as a quotation, so that it cannot add to them.
func (p picked) bullet(shown string) string {
	var before, after string
	if p.whose != "" {
		before = "[" + string(p.whose) + "] "
	}
	if p.Aspect == domain.Contested && p.Knowledge.Polarity == domain.Negative {
		before += "[pitfall] "
	}
	rating := p.Knowledge.Rating()
	if len(p.against) > 0 { // which say more than ids
		rating.DisputedBy = nil
	}
	marks := rating.Marks()
	if v := p.Knowledge.Verified; v != nil && v.Counts {
		marks = append(marks, strings.TrimSuffix("confirmed by "+string(v.By)+" until "+v.Until.Format(time.DateOnly),
			" until 0001-01-01"))
	}
	k := p.Knowledge
	marks = append(marks, text.Asides(shown, k.OccurredAt, k.CreatedAt, p.Copies)...)
	if len(marks) > 0 {
		after = " (" + strings.TrimPrefix(strings.Join(marks, "; "), "contested: ") + ")"
	}
	if k.Text.URI != "" {
		after += " " + reference(k)
	}
	var disputes strings.Builder
	for _, other := range p.against {
		disputes.WriteString("\n  - but another item says: " + other)
	}
	against := disputes.String()
	if p.outside() {
		return before + text.Outside + after + "\n  > " + strings.ReplaceAll(shown, "\n", "\n  > ") + against
	}
	shown, after = strings.ReplaceAll(shown, "\n", "\n  "), after+against
	if last := strings.TrimSpace(shown[strings.LastIndex(shown, "\n")+1:]); after != "" &&
		(strings.HasPrefix(last, "```") || strings.HasPrefix(last, "~~~")) {
		after = "\n " + after
	}
	return before + shown + after
}

// hints are the user's preferences, the best skill, the best case and failures to avoid, as far as they fit.
func hints(all []picked, maxTokens int) string {
	first := map[domain.Aspect]bool{}
	out := ""
	for _, part := range []struct {
		aspect domain.Aspect
		label  string
		one    bool
	}{
		{domain.Preferences, "User prefers: ", false},
		{domain.Skills, "Skill that fits: ", true},
		{domain.Cases, "Similar case: ", true},
		{domain.Failures, "Pitfall: ", false},
	} {
		for _, item := range all {
			if item.Aspect != part.aspect || part.one && first[part.aspect] {
				continue
			}
			first[part.aspect] = true
			if longer := out + part.label + item.marked(oneLine(item.line)) + "\n"; text.Tokens(longer) <= maxTokens {
				out = longer
			}
		}
	}
	return out
}
