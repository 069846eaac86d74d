package briefing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// The sections of an injection, in order. A heading says what the items below it are.
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

var sections = []string{preferences, skills, cases, procedures, tools, definitions, documents, profiles, pitfalls, contested}

// section is the heading under which an item stands.
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

// hintTokens is how long hints are at most: they stand in another prompt, beside a list of skills.
const hintTokens = 150

// compose writes down as much as there is room for: first a line of each item, then all of what the best say, or the
// sections that are about the question.
func compose(all []picked, about string, maxTokens int, degraded string) domain.Briefing {
	b := domain.Briefing{Degraded: degraded}
	t := telling{items: all, shown: make([]string, len(all)), room: maxTokens}
	t.lines()
	t.passages(about)
	b.Injection = t.String()
	for i, item := range all {
		item.Told = t.shown[i] != ""
		b.Items = append(b.Items, item.Briefed)
	}
	b.Hints = hints(all, min(hintTokens, maxTokens))
	b.Tokens, b.HintTokens = text.Tokens(b.Injection), text.Tokens(b.Hints)
	return b
}

// telling is what is told of each item; nothing where there was no room.
type telling struct {
	items []picked
	shown []string
	room  int // in tokens
}

// lines tells the best of each section, beginning with the best of all, then the second best and so on, while there is room. What
// does not fit makes room for shorter ones behind it, but the best item is cut.
func (t *telling) lines() {
	place, in := make([]int, len(t.items)), map[string]int{}
	order := make([]int, len(t.items))
	for i, item := range t.items {
		place[i], order[i] = in[item.section()], i
		in[item.section()]++
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(t.items[a].rank, t.items[b].rank))
	})
	for n, i := range order {
		line := t.items[i].line
		for tokens := said / 2; !t.tell(i, line) && n == 0 && tokens > 5; tokens /= 2 {
			line = text.Abstract(line, tokens)
		}
	}
}

// passages tells more of the items, the best first.
func (t *telling) passages(about string) {
	order := make([]int, len(t.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.items[a].rank, t.items[b].rank) })
	for _, i := range order {
		content := t.items[i].content
		if t.shown[i] == "" || t.shown[i] == strings.Join(strings.Fields(content), " ") && !strings.Contains(strings.TrimSpace(content), "\n") {
			continue
		}
		room := t.room - text.Tokens(t.String()) + text.Tokens(t.shown[i])
		for _, share := range [...]int{100, 85, 60} { // indents and line ends take room, too
			if passage := text.Passage(content, about, room*share/100); passage != "" && t.tell(i, passage) {
				break
			}
		}
	}
}

// tell shows this of an item if there is room for it.
func (t *telling) tell(i int, what string) bool {
	before := t.shown[i]
	if t.shown[i] = what; text.Tokens(t.String()) > t.room {
		t.shown[i] = before
		return false
	}
	return true
}

// String has a section for each kind of which something is told.
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

// bullet is what is told of an item, with what makes one doubt it and the URI by which the agent can read on or vote.
func (p picked) bullet(shown string) string {
	fenced := strings.Count(shown, "```")%2 == 1
	shown = strings.ReplaceAll(shown, "\n", "\n  ")
	if fenced { // a block that was cut must not swallow what follows
		shown += "\n  ```"
	}
	var before, after string
	if p.whose != "" {
		before = "[" + string(p.whose) + "] "
	}
	if p.Aspect == domain.Contested && p.Knowledge.Polarity == domain.Negative {
		before += "[pitfall] "
	}
	if marks := p.Knowledge.Rating().Marks(); len(marks) > 0 {
		after = " (" + strings.TrimPrefix(strings.Join(marks, "; "), "contested: ") + ")"
	}
	if uri := p.Knowledge.Text.URI; uri != "" {
		after += " <" + uri + ">"
	}
	if strings.HasSuffix(shown, "```") && after != "" {
		after = "\n " + after
	}
	return before + shown + after
}

// hints are what the user likes, the best skill, the best case, and pitfalls, as far as there is room.
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
			if longer := out + part.label + item.line + "\n"; text.Tokens(longer) <= maxTokens {
				out = longer
			}
		}
	}
	return out
}
