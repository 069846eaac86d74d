package briefing

import (
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// headings of the sections of an injection.
var headings = map[domain.Aspect]string{
	domain.Preferences: "## User Preferences",
	domain.Skills:      "## Skills That Fit",
	domain.Cases:       "## Similar Cases",
	domain.Patterns:    "## Patterns That Worked",
	domain.Tools:       "## How the Tools Behave",
	domain.Background:  "## Background",
	domain.Failures:    "## Known Failure Modes (AVOID)",
}

// hintTokens is how long hints are at most: they stand in another prompt, beside a list of skills.
const hintTokens = 150

// compose writes down as much as there is room for.
func compose(all []picked, maxTokens int, degraded string) domain.Briefing {
	b := domain.Briefing{Degraded: degraded}
	told := room(all, maxTokens)
	b.Injection = injection(all, told)
	for i, item := range all {
		item.Told = told[i]
		b.Items = append(b.Items, item.Briefed)
	}
	b.Hints = hints(all, min(hintTokens, maxTokens))
	b.Tokens, b.HintTokens = text.Tokens(b.Injection), text.Tokens(b.Hints)
	return b
}

// room tells which items are told: the best of each aspect, then the second best and so on, while there is
// room. What does not fit makes room for shorter ones behind it.
func room(all []picked, maxTokens int) []bool {
	told := make([]bool, len(all))
	for rank, more := 0, true; more; rank++ {
		more = false
		place := map[domain.Aspect]int{}
		for i, item := range all {
			if place[item.Aspect]++; place[item.Aspect]-1 != rank {
				continue
			}
			more, told[i] = true, true
			if text.Tokens(injection(all, told)) > maxTokens {
				told[i] = false
			}
		}
	}
	return told
}

// injection has a section for each aspect of which something is told.
func injection(all []picked, told []bool) string {
	var out strings.Builder
	var section domain.Aspect
	for i, item := range all {
		if !told[i] {
			continue
		}
		if item.Aspect != section {
			if section != "" {
				out.WriteString("\n")
			}
			section = item.Aspect
			out.WriteString(headings[section] + "\n\n")
		}
		out.WriteString("- " + item.line + "\n")
	}
	return out.String()
}

// hints are what the user likes, the best skill, the best case, and what to avoid, as far as there is room.
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
		{domain.Failures, "AVOID (prior failure): ", false},
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
