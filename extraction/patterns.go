package extraction

import (
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

var (
	step        = text.Expression(`(?im)^\s*(?:step\s*\d+[.:)]?|\d{1,2}[.)、]|第[一二三四五六七八九十]步[:：,，]?)\s*\S`)
	inOrder     = text.Expression(`(?is)\bfirst(?:ly)?\b.+\b(?:then|next|second(?:ly)?)\b.+\b(?:finally|lastly|at the end)\b`)
	inOrderHan  = text.Expression(`(?s)首先.+(?:然后|接着|其次).+最后`)
	fewestSteps = 3
)

// patterns are procedures that a person or an agent spelt out, step by step. Steps in a user's message may be pasted: they
// are for the owner alone.
func patterns(c Conversation) []Finding {
	var found []Finding
	for i, m := range c.Messages {
		said := strings.TrimSpace(m.Prose())
		steps := step().FindAllStringIndex(said, -1)
		if !m.speaks() || reporting().MatchString(said) || len(steps) < fewestSteps && !either(said, inOrder, inOrderHan) {
			continue
		}
		f := Finding{Category: domain.CategoryPatterns, Sources: []int{i}, Own: m.Role == domain.RoleUser, Tags: tagsOf("", "")}
		f.Content = cut(strings.TrimSpace(quoted().ReplaceAllString(m.Text(), "")), domain.MaxContent/2)
		heading := firstLine(said)
		if len(steps) >= fewestSteps {
			heading = firstLine(said[:steps[0][0]])
		}
		f.Task = heading
		if asked := before(c, i); asked >= 0 && m.Role != domain.RoleUser {
			f.Sources = append(f.Sources, asked)
			f.Task = strings.TrimSpace(c.Messages[asked].Text())
			heading = firstLine(f.Task)
		}
		f.Task = cut(f.Task, longestTask)
		told := strings.Join(strings.Fields(said), " ")
		if !strings.HasPrefix(told, heading) { // a question alone tells nobody the answer
			told = heading + " " + told
		}
		f.Abstract = text.Abstract(told, text.AbstractTokens)
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
