package extraction //nolint:lll // expressions are data

import (
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

var (
	// reporting begins a part of an agent's report on a task. Its groups are reportParts.
	reporting   = text.Expression(`(?i)^[\s*_#]*(?:(final (?:response|answer|result)|最终(?:回复|回答|响应|结果|答案))|(tool sequence|工具(?:调用)?(?:序列|顺序))|(environment|(?:运行)?环境)|(failure reason|失败原因))[\s*_]*[:：][\s*_]*`)
	reportParts = []string{"final response", "tool sequence", "environment", "failure reason"}
	// marked begins a line of a list or a heading, labelling is a label, and valued a value in JSON.
	marked    = text.Expression(`^(?:[\s>#|•·*+①-⑳\p{So}\p{M}-]+|\(?\d{1,2}(?:[.)、]|\p{M}+)\s*|[\[【][^\]】]{1,20}[\]】])+`)
	labelling = text.Expression(`^[\p{L}][\p{L}\d '/_();-]{0,38}(?:[:：]\s+|：)|^\p{Han}{2,8}(?::|——)\s*`)
	valued    = text.Expression(`("(?:[^"\\]|\\.)*")\s*(?:[,}\]]|$)`)
	clauses   = text.Expression(`;\s+|\s(?:[—–|]|=>|->)\s|,?\s(?:because|since)\s|[，,]?(?:因为|由于)`)
	plainText = strings.NewReplacer("`", "", "**", "", "__", "")
	evolved   = text.Expression(`(?i)^[\s*_\p{So}\p{M}-]*(?:skill|技能)\s*['"“‘「]([^'"”’」\n]{1,80})['"”’」]\s*(?:evolved|improved|refined|updated|created|learned|was \w+|已?(?:演化|进化|改进|创建|更新|生成))[^:：\n]{0,40}[:：]\s*(\S[^\n]*)`)
)

// points are the statements of a text by its structure: its lines without marks, the values of JSON, then sentences
// and their clauses, without the labels and words that introduce them.
func points(content string) (all []string) {
	for line := range strings.SplitSeq(content, "\n") {
		units := []string{plainText.Replace(line)}
		for _, value := range valued().FindAllStringSubmatch(line, -1) {
			if unquoted, err := strconv.Unquote(value[1]); err == nil {
				units = append(units, unquoted)
			}
		}
		for _, unit := range units {
			for _, sentence := range text.Sentences(unit) {
				for _, s := range clauses().Split(sentence, -1) {
					for before := ""; before != s; {
						before, s = s, marked().ReplaceAllString(s, "")
						s = lead().ReplaceAllString(labelling().ReplaceAllString(s, ""), "")
					}
					all = append(all, strings.TrimSpace(s))
				}
			}
		}
	}
	return all
}

// evolutions are the skills that an agent reports to have learned.
func evolutions(c Conversation) (found []LessonDraft) {
	for i, m := range c.Messages {
		named := evolved().FindStringSubmatch(m.Text())
		if m.Role != domain.RoleAssistant || named == nil {
			continue
		}
		found = append(found, LessonDraft{
			Category: domain.CategorySkills, Key: strings.ToLower(named[1]), Sources: []int{i}, Content: named[2],
			Task: in(named[2], "Using the skill ", "使用技能 ") + named[1], Tags: tagsOf("", strings.ToLower(named[1])),
		})
	}
	return found
}
