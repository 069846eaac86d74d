package extraction

import (
	"maps"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// nearby is the number of messages within which a fix may follow its problem.
const nearby = 8

// clue is a sentence that describes a problem, a cause or a fix.
type clue struct {
	message  int
	sentence string
	problem  bool
	cause    bool
	fix      bool
}

// cases are problems whose fix a message describes, with the cause if it was found.
func cases(c Conversation) []LessonDraft {
	var found []LessonDraft
	clues := cluesOf(c)
	for at := 0; at < len(clues); {
		first := clues[at]
		if !first.problem || first.fix {
			if first.problem && first.fix { // all in one sentence
				found = append(found, caseOf([]clue{first}))
			}
			at++
			continue
		}
		solved := slices.IndexFunc(clues[at+1:], func(next clue) bool {
			return next.fix && next.message-first.message <= nearby
		})
		if solved < 0 {
			at++
			continue
		}
		found = append(found, caseOf(clues[at:at+solved+2]))
		at += solved + 2
	}
	if len(found) == 0 {
		found = append(found, report(c)...)
	}
	return found
}

func cluesOf(c Conversation) []clue {
	var clues []clue
	for i, m := range c.Messages {
		if !m.speaks() {
			continue
		}
		for _, sentence := range text.Sentences(m.Prose()) {
			next := clueOf(sentence)
			next.message, next.sentence = i, sentence
			if next.problem || next.cause || next.fix {
				clues = append(clues, next)
			}
		}
	}
	return clues
}

// clueOf classifies a sentence. A preference of the speaker is not a fix.
func clueOf(sentence string) clue {
	sentence = straight.Replace(sentence)
	switch {
	case namedProblem().MatchString(sentence):
		return clue{problem: true}
	case namedCause().MatchString(sentence):
		return clue{cause: true}
	case namedFix().MatchString(sentence):
		return clue{fix: true}
	}
	return clue{
		problem: either(sentence, problem, problemChinese), cause: either(sentence, cause, causeChinese),
		fix: either(sentence, fix, fixChinese) && !either(sentence, preferring, preferringChinese),
	}
}

// label is the name of a part before its description.
var label = text.Expression(`(?i)^\W*(?:problem|issue|symptom|error|root cause|cause|reason|fix|solution|resolution|workaround|问题|现象|症状|根本原因|原因|根因|解决方案|解决办法|解决方法|解决|修复|办法)\s*[:：]\s*|^\W*(?:根本)?(?:原因|根因)(?:是|在于)\s*`)

// caseOf is the problem, cause and fix in neighbouring clues.
func caseOf(clues []clue) LessonDraft {
	var problems, causes, fixes []string
	f := LessonDraft{Category: domain.CategoryCases}
	for i, clue := range clues {
		told := reporting().ReplaceAllString(clue.sentence, "")
		switch {
		case clue.fix && (i > 0 || len(clues) == 1):
			fixes = append(fixes, told)
		case clue.cause:
			causes = append(causes, told)
		default:
			problems = append(problems, told)
		}
		if !slices.Contains(f.Sources, clue.message) {
			f.Sources = append(f.Sources, clue.message)
		}
	}
	first := clues[0].sentence
	f.Task = cut(first, longestTask)
	var content strings.Builder
	section := func(english, chinese string, sentences []string) {
		if len(sentences) > 0 {
			for i, sentence := range sentences {
				sentences[i] = label().ReplaceAllString(sentence, "")
			}
			content.WriteString(in(first, english, chinese) + strings.Join(sentences, " ") + "\n")
		}
	}
	section("Problem: ", "问题：", problems)
	section("Cause: ", "原因：", causes)
	section("Fix: ", "解决：", fixes)
	f.Content = strings.TrimSpace(content.String())
	f.Tags = tagsOf("", "")
	return f
}

// reported are the messages that report on a task, by the part that a line of them begins.
func reported(c Conversation) (parts map[string]int) {
	parts = map[string]int{}
	for i, m := range c.Messages {
		for line := range strings.SplitSeq(m.Text(), "\n") {
			found := reporting().FindStringSubmatch(line)
			for group, name := range reportParts {
				if found != nil && found[group+1] != "" {
					parts[name] = i
				}
			}
		}
	}
	return parts
}

// reportedTask is the task that messages report on: the user's last message before them. Without a report, it is the
// only message of the user; among several, it would be a guess.
func (c Conversation) reportedTask(parts map[string]int) (string, int) {
	request, turns := -1, 0
	for i, m := range c.Messages {
		if m.Role == domain.RoleUser && strings.TrimSpace(m.Text()) != "" {
			request, turns = i, turns+1
		}
	}
	if len(parts) > 0 {
		request = before(c, slices.Min(slices.Collect(maps.Values(parts))))
	} else if turns > 1 {
		return "", -1
	}
	if request < 0 {
		return "", -1
	}
	return cut(strings.TrimSpace(c.Messages[request].Text()), longestTask), request
}

// report is the case of a completed task in the format of agents' reports.
func report(c Conversation) []LessonDraft {
	parts := reported(c)
	about, request := c.reportedTask(parts)
	final, done := parts["final response"]
	if !done || request < 0 {
		return nil
	}
	f := LessonDraft{Category: domain.CategoryCases, Task: about, Sources: []int{request}}
	lines := []string{in(about, "Task: ", "任务：") + about}
	for _, name := range reportParts[:3] {
		if i, is := parts[name]; is && !slices.Contains(f.Sources, i) {
			lines = append(lines, cut(strings.TrimSpace(c.Messages[i].Text()), 8000))
			f.Sources = append(f.Sources, i)
		}
	}
	f.Content = strings.Join(lines, "\n")
	answer := reporting().ReplaceAllString(c.Messages[final].Text(), "")
	f.Abstract = text.Abstract(about+" → "+answer, text.AbstractTokens)
	f.Tags = tagsOf("", "")
	return []LessonDraft{f}
}

// failure is the failure to avoid that a negative conversation describes.
func failure(c Conversation) []LessonDraft {
	about, request := c.reportedTask(reported(c))
	about = requested(unmarked(about))
	f := LessonDraft{Category: domain.CategoryAntipatterns, Polarity: domain.Negative, Task: about}
	if request >= 0 {
		f.Sources = append(f.Sources, request)
	}
	var lines []string
	reason := ""
	for i, m := range c.Messages {
		content := strings.TrimSpace(m.Text())
		if i == request || content == "" || m.Role == domain.RoleUser {
			continue
		}
		if rest := unmarked(content); rest == "" || justMarked().MatchString(content) && len(rest) < 80 {
			f.Sources = append(f.Sources, i)
			continue // it states nothing else
		}
		content = unmarked(content)
		if named := reporting().FindStringSubmatch(content); named != nil && named[len(reportParts)] != "" {
			reason = strings.TrimSpace(reporting().ReplaceAllString(content, ""))
		}
		lines = append(lines, cut(content, 8000))
		f.Sources = append(f.Sources, i)
	}
	if len(lines) == 0 && about == "" {
		return nil
	}
	if about != "" {
		lines = append([]string{in(about, "Failed: ", "失败的做法：") + about}, lines...)
	}
	f.Content = cut(strings.Join(lines, "\n"), domain.MaxContent/2)
	if reason != "" {
		f.Abstract = text.Abstract(strings.TrimSpace(about+" → "+reason), text.AbstractTokens)
	}
	f.Tags = tagsOf("", "")
	return []LessonDraft{f}
}

// unmarked removes the mark of a failure from a text, since the item's polarity says it.
func unmarked(content string) string {
	return strings.TrimSpace(markedAside().ReplaceAllString(markedLine().ReplaceAllString(content, ""), " "))
}
