package extraction

import (
	"regexp"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

var (
	step        = regexp.MustCompile(`(?im)^\s*(?:step\s*\d+[.:)]?|\d{1,2}[.)、]|第[一二三四五六七八九十]步[:：,，]?)\s*\S`)
	inOrder     = regexp.MustCompile(`(?is)\bfirst(?:ly)?\b.+\b(?:then|next|second(?:ly)?)\b.+\b(?:finally|lastly|at the end)\b`)
	inOrderHan  = regexp.MustCompile(`(?s)首先.+(?:然后|接着|其次).+最后`)
	fewestSteps = 3
)

// patterns are procedures that somebody spelt out, step by step.
func patterns(c Conversation) []Finding {
	var found []Finding
	for i, m := range c.Messages {
		said := strings.TrimSpace(m.Text())
		steps := step.FindAllStringIndex(said, -1)
		if reporting.MatchString(said) || len(steps) < fewestSteps && !either(said, inOrder, inOrderHan) {
			continue
		}
		f := Finding{Category: domain.CategoryPatterns, Sources: []int{i}, Content: cut(said, domain.MaxContent/2)}
		title := said
		if len(steps) >= fewestSteps {
			title = strings.TrimSpace(said[:steps[0][0]])
		}
		asked := before(c, i)
		if title == "" && asked >= 0 {
			title = c.Messages[asked].Text()
		}
		f.Task = cut(firstLine(title), longestTask)
		if asked >= 0 && m.Role != domain.RoleUser {
			f.Sources = append(f.Sources, asked)
			f.Task = cut(strings.TrimSpace(c.Messages[asked].Text()), longestTask)
		}
		told, heading := strings.Join(strings.Fields(said), " "), firstLine(title)
		if asked >= 0 && m.Role != domain.RoleUser {
			heading = firstLine(c.Messages[asked].Text())
		}
		if !strings.HasPrefix(told, heading) { // a question alone tells nobody the answer
			told = heading + " " + told
		}
		f.Abstract = text.Abstract(told, text.AbstractTokens)
		f.Tags = tagsOf("", "", f.Content)
		found = append(found, f)
	}
	return found
}

// before is the user's message before another; -1 if there is none.
func before(c Conversation, i int) int {
	for i--; i >= 0; i-- {
		if c.Messages[i].Role == domain.RoleUser {
			return i
		}
	}
	return -1
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.Trim(line, "#*: ：")
}
