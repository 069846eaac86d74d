package extraction

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// chatAnswer is the body of an endpoint's answer.
type chatAnswer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// lessons is the JSON that a model was asked to write.
type lessons struct {
	Summary  string `json:"summary"`
	Overview string `json:"overview"`
	Lessons  []struct {
		Category   domain.Category `json:"category"`
		Key        string          `json:"key"`
		Task       string          `json:"task"`
		Content    string          `json:"content"`
		Abstract   string          `json:"abstract"`
		Correction bool            `json:"correction"`
		Single     bool            `json:"single"`
		Messages   []int           `json:"messages"`
	} `json:"lessons"`
}

// mostLessons limits the lessons of one answer.
const mostLessons = 200

// parse reads an answer. It repairs or drops invalid lessons; an answer that is not a list of lessons matches
// errNonsense.
func parse(raw []byte, c Conversation, p portion) (Result, error) {
	var written lessons
	usage, err := decodeAnswer(raw, &written, "lessons", "overview")
	if err != nil {
		return Result{}, err
	}
	found := Result{
		Summary: domain.Summary{Abstract: cut(clean(written.Summary), 2000), Overview: cut(clean(written.Overview), 8000)},
		Usage:   usage,
	}
	for _, l := range written.Lessons[:min(len(written.Lessons), mostLessons)] {
		l.Content = clean(l.Content)
		if l.Content == "" {
			continue
		}
		if !slices.Contains(domain.Categories, l.Category) {
			l.Category = domain.CategoryPatterns
		}
		sources := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(l.Messages))),
			func(i int) bool { return i < p.from || i >= p.to })
		if len(sources) == 0 { // no message supports it, so the model invented it
			continue
		}
		if l.Category.AboutUser() &&
			!slices.ContainsFunc(sources, func(i int) bool { return c.Messages[i].Role == domain.RoleUser }) {
			continue // an assistant's words say nothing about the user
		}
		key := strings.ToLower(cut(clean(l.Key), 100))
		f := LessonDraft{
			Category: l.Category, Key: key, Single: l.Single, Correction: l.Correction, Sources: sources,
			Task: cut(clean(l.Task), longestTask), Content: cut(l.Content, domain.MaxContent/2),
			Abstract: cut(clean(l.Abstract), 1000),
			Tags:     tagsOf(kindOf(l.Category), key),
		}
		if !supported(c, f) {
			f.Private = unsupported
		}
		found.Findings = append(found.Findings, f)
	}
	return found, nil
}

// supported reports whether the messages of a finding contain all of its words, and it repeats no sentence of another
// message. Otherwise, the model added something, and the finding is for the owner alone.
func supported(c Conversation, f LessonDraft) bool {
	var cited strings.Builder
	for _, i := range f.Sources {
		cited.WriteString(c.Messages[i].all() + "\n")
	}
	written := strings.Join([]string{f.Key, f.Task, f.Content, f.Abstract}, "\n")
	known := words(cited.String())
	for word := range words(written) {
		if !known[word] {
			return false
		}
	}
	here, there := normal(written), normal(cited.String())
	for i, m := range c.Messages {
		if slices.Contains(f.Sources, i) {
			continue
		}
		for _, sentence := range text.Sentences(m.all()) {
			if s := normal(sentence); s != "" && strings.Contains(here, s) && !strings.Contains(there, s) {
				return false
			}
		}
	}
	return true
}

// all is the whole of a message as the model sees it.
func (m Message) all() string {
	all := []string{m.Text()}
	for _, part := range m.Parts {
		if part.Type == domain.PartTool {
			all = append(all, part.ToolName, part.ToolOutput)
		}
	}
	return strings.Join(all, "\n")
}

// decodeAnswer decodes the JSON that a model wrote: an object with one of the keys, or the list of the first key. Other
// answers match errNonsense.
func decodeAnswer(raw []byte, written any, keys ...string) (domain.ModelUsage, error) {
	var answer chatAnswer
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Choices) == 0 {
		return domain.ModelUsage{}, fmt.Errorf("%w: no chat completion", errNonsense)
	}
	choice := answer.Choices[0]
	if choice.FinishReason == "length" {
		return domain.ModelUsage{}, fmt.Errorf("%w: it breaks off", errNonsense)
	}
	if !decodeJSON(choice.Message.Content, written, keys) {
		return domain.ModelUsage{}, fmt.Errorf("%w: no JSON as was asked for", errNonsense)
	}
	return domain.ModelUsage{PromptTokens: answer.Usage.PromptTokens, CompletionTokens: answer.Usage.CompletionTokens}, nil
}

// decodeJSON decodes the first JSON with one of the keys. What a model thought, said or fenced around it is ignored.
func decodeJSON(s string, written any, keys []string) bool {
	const most = 50 // places at which JSON may begin
	s = s[strings.LastIndex(s, "</think>")+1:]
	for place := range most {
		begin := strings.IndexAny(s, "{[")
		if begin < 0 {
			return false
		}
		s = s[begin:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(repaired(s))).Decode(&raw) == nil {
			if s[0] == '[' && place == 0 {
				raw = fmt.Appendf(nil, "{%q:%s}", keys[0], raw)
			}
			var object map[string]json.RawMessage
			err := json.Unmarshal(raw, &object)
			has := func(key string) bool { return object[key] != nil }
			if err == nil && slices.ContainsFunc(keys, has) && json.Unmarshal(raw, written) == nil {
				return true
			}
		}
		s = s[1:]
	}
	return false
}

// repaired removes the commas before closing brackets and escapes the line breaks in strings.
func repaired(s string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch next := strings.TrimLeft(s[i+1:], " \t\r\n"); {
		case quoted && s[i] == '\n':
			out.WriteString(`\n`)
			continue
		case quoted && s[i] == '\\' && i+1 < len(s):
			out.WriteByte(s[i])
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == ',' && (strings.HasPrefix(next, "}") || strings.HasPrefix(next, "]")):
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// clean removes characters that a database cannot store.
func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", ""))
}

// kindOf is the label of a category about the user.
func kindOf(c domain.Category) string {
	switch c {
	case domain.CategoryPreferences:
		return "preference"
	case domain.CategoryProfile:
		return "background"
	}
	return ""
}
