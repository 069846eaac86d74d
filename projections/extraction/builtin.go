package extraction

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// BuiltIn finds explicit statements by rules. It needs no model and no network, and its result is always the same.
type BuiltIn struct{}

var _ Extractor = BuiltIn{}

// Name implements [Extractor]. Its number must change with the rules.
func (BuiltIn) Name() string { return "built-in 6" }

// Extract implements [Extractor]. It never fails.
func (BuiltIn) Extract(_ context.Context, c Conversation) (Result, error) {
	found := Result{Summary: summarize(c)}
	negative := c.Negative()
	if negative {
		found.Findings = append(found.Findings, failure(c)...)
	} else {
		found.Findings = append(found.Findings, cases(c)...)
		found.Findings = append(found.Findings, patterns(c)...)
	}
	tools := append(behaviours(c), evolutions(c)...)
	for i, m := range c.Messages {
		if m.Role != domain.RoleUser {
			continue
		}
		for _, sentence := range assertions(m.Prose()) {
			f, is := stated(sentence.own)
			f.Content = sentence.text
			repeated := func(tool LessonDraft) bool {
				return f.Category == domain.CategoryEntities && strings.HasSuffix(plainText.Replace(f.Content), tool.Content)
			}
			if is && !(negative && f.Category == domain.CategoryEvents) && !slices.ContainsFunc(tools, repeated) {
				f.Sources = []int{i}
				found.Findings = append(found.Findings, f)
			}
		}
	}
	found.Findings = append(found.Findings, tools...)
	found.Findings = append(found.Findings, runs(c)...)
	return found, nil
}

// shortestStatement is the least number of characters of a statement.
const shortestStatement = 6

// stated is the lesson in a user's sentence about themselves and their environment.
func stated(sentence string) (LessonDraft, bool) {
	straightened := straight.Replace(sentence)
	s := mending().ReplaceAllString(straightened, "")
	mended := s != straightened
	asked := asking().MatchString(s)
	if len(s) < shortestStatement || len(s) > domain.MaxContent/2 || polarityMark().MatchString(s) {
		return LessonDraft{}, false
	}
	if passing().MatchString(s) || requesting().MatchString(s) && !either(s, remembering, rememberingChinese) {
		return LessonDraft{}, false
	}
	corrects := either(s, correcting, correctingChinese)
	f := LessonDraft{Content: sentence, Correction: corrects || mended}
	if retracts(s) { // its category is that of the statement that it ends
		f.Correction, s = true, affirmed.Replace(s)
	}
	noted := either(s, remembering, rememberingChinese)
	if asked && !noted || borrowed(s) {
		return LessonDraft{}, false
	}
	if match := append(preferring().FindStringIndex(s), preferringChinese().FindStringIndex(s)...); len(match) > 0 &&
		voiced(s[:match[0]]) {
		f.Category, f.Key = domain.CategoryPreferences, facetOf(s)
		f.Task = in(s, "What the user prefers", "用户的偏好")
		f.Tags = tagsOf("preference", f.Key)
		return f, true
	}
	if found, is := claimed(s); is {
		f.Category, f.Key = domain.CategoryProfile, found.key
		f.Single, f.Doubtful = found.single && !found.unsure, found.unsure
		if !retracts(sentence) { // it says what is not
			f.Value = found.value
		}
		f.Task = in(s, "Who the user is", "用户是谁")
		f.Tags = tagsOf("background", f.Key)
		return f, true
	} else if phrase("framed").MatchString(s) && !noted {
		return LessonDraft{}, false
	}
	switch {
	case either(s, deciding, decidingChinese), dated().MatchString(s), doing().MatchString(s):
		f.Category = domain.CategoryEvents
		f.Task = in(s, "What happened, or was decided", "发生或决定的事")
		f.Tags = tagsOf("", "")
	case noted || corrects && factual().MatchString(s) || retracts(sentence) ||
		asserts(straightened, true) && !strings.Contains(straightened, "___"), // a text by others is no fact
		mended && asserts(s, true) && !strings.HasPrefix(s, "I "): // an excuse
		f.Category = domain.CategoryEntities
		f.Task = in(s, "What the user's world is like", "用户所说的事实")
		f.Tags = tagsOf("", "")
	default:
		return LessonDraft{}, false
	}
	return f, true
}

// verbatimRequests are the statements that the user asked to remember verbatim, and that no finding covers.
func verbatimRequests(c Conversation, findings []LessonDraft) []LessonDraft {
	var contents []string
	for _, f := range findings {
		contents = append(contents, f.Content)
	}
	known := words(strings.Join(contents, "\n"))
	var more []LessonDraft
	for i, m := range c.Messages {
		statement := strings.TrimSpace(m.Text()) // code or a quotation alone is what is to be kept
		if prose := strings.TrimSpace(m.Prose()); prose != "" {
			var left []string
			all := assertions(prose)
			for _, s := range all {
				if asserts(s.own, false) && !covered(s.text, known) {
					left = append(left, s.text)
				}
			}
			if statement = prose; len(left) == 0 || len(findings) > 0 || len(all) < len(text.Sentences(prose)) {
				statement = strings.Join(left, " ")
			}
		}
		if m.Role == domain.RoleUser && statement != "" {
			more = append(more, LessonDraft{
				Category: domain.CategoryEntities, Sources: []int{i}, Content: cut(statement, domain.MaxContent/2),
				Task: in(statement, "What the user's world is like", "用户所说的事实"), Tags: tagsOf("", ""),
			})
		}
	}
	return more
}

// covered reports whether at least half of a sentence's words are known.
func covered(sentence string, known map[string]bool) bool {
	terms, common := words(sentence), 0
	for word := range terms {
		if known[word] {
			common++
		}
	}
	return 2*common >= len(terms)
}

// affirmed turns a retraction into what it ends.
var affirmed = strings.NewReplacer(
	"used to ", "",
	"no longer ", "", " no longer", "", "stopped using", "use", "quit using", "use", "gave up using", "use",
	"given up using", "use", "stopped ", "", "quit ", "", "gave up ", "", "given up ", "",
	"decided not to", "decided to", "decided against", "decided to",
	"don't ", "", "doesn't ", "", "do not ", "", "does not ", "", " any more", "", " anymore", "", " any longer", "",
	"我不", "我", "我们不", "我们", "以前", "", "曾经", "",
	"停止使用", "用", "停用", "用", "放弃了使用", "用", "放弃了", "", "不再", "", "已经不", "", "已不", "", "决定不", "决定",
	"戒烟了", "抽烟", "戒了烟", "抽烟", "戒酒了", "喝酒", "戒掉了", "喝", "戒了", "喝",
)

// straight replaces quotation marks by the form that rules expect.
var straight = strings.NewReplacer("’", "'", "‘", "'")

// longestTask limits the bytes of a lesson's task.
const longestTask = 600

// task is the first request of the user.
func task(c Conversation) (string, int) {
	for i, m := range c.Messages {
		if request := strings.TrimSpace(m.Text()); m.Role == domain.RoleUser && request != "" {
			return cut(request, longestTask), i
		}
	}
	return "", -1
}

// cut shortens a text to whole characters.
func cut(s string, bytes int) string {
	const more = "…"
	if len(s) <= bytes {
		return s
	}
	end := bytes - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimSpace(s[:end]) + more
}

// outcome is the agent's last message in short; empty if there is none.
func outcome(c Conversation) string {
	for _, m := range slices.Backward(c.Messages) {
		if answer := reporting().ReplaceAllString(strings.TrimSpace(m.Prose()), ""); m.Role == domain.RoleAssistant &&
			answer != "" {
			return " → " + text.Abstract(answer, text.AbstractTokens/2)
		}
	}
	return ""
}

// summarize summarises a conversation in its own words.
func summarize(c Conversation) domain.Summary {
	turns := 0
	var all strings.Builder
	for _, m := range c.Messages {
		if m.Role == domain.RoleUser {
			turns++
		}
		if content := strings.TrimSpace(m.Text()); content != "" {
			fmt.Fprintf(&all, "%s: %s\n\n", m.Role, text.Dated(content, m.At))
		}
	}
	about, _ := task(c)
	heading := fmt.Sprintf("# Session Summary\n\nOverview: %d turns, %d messages\n", turns, len(c.Messages))
	return domain.Summary{
		Abstract: text.Abstract(about, text.AbstractTokens) + outcome(c),
		Overview: heading + "\n" + text.Overview(all.String(), text.OverviewTokens),
	}
}
