package viking

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// skill is a skill from a text with front matter, an object or an MCP tool.
type skill struct {
	described
	Text string // SKILL.md with its front matter

	files    []source // the files beside SKILL.md, if the skill was a directory
	isDir    bool
	warnings []string
}

// errSkill is the error of an invalid skill.
var errSkill = errors.New("no skill")

func noSkill(format string, values ...any) error { return domain.Refuse(errSkill, format, values...) }

// parseSkill parses a skill in any form. An object may have its metadata beside it.
func parseSkill(data json.RawMessage, beside any) (skill, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return skillOfText(text)
	}
	var fields struct {
		described
		Content     string          `json:"content"`
		Schema      json.RawMessage `json:"inputSchema"`
		Allowed     []string        `json:"allowed-tools"`
		OtherSchema json.RawMessage `json:"input_schema"`
	}
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &fields) != nil {
		return skill{}, noSkill("data must be a text or an object with name, description and content")
	}
	k := skill{described: fields.described}
	if k.Metadata == nil {
		k.Metadata = beside
	}
	k.describe(fields.Content)
	if len(k.AllowedTools) == 0 {
		k.AllowedTools = fields.Allowed
	}
	if schema := cmp.Or(string(fields.Schema), string(fields.OtherSchema)); schema != "" && fields.Content == "" {
		fields.Content = toolText(k, json.RawMessage(schema))
	}
	if strings.HasPrefix(fields.Content, fence+"\n") {
		k.Text = fields.Content
	} else {
		k.Text = k.frontMatter() + fields.Content
	}
	return k, k.check()
}

// fence encloses the front matter. spacedFence is one with spaces after it, or the end of a document of YAML.
const fence = "---"

var spacedFence = regexp.MustCompile(`(?m)^(?:---[ \t]+|\.\.\.[ \t]*)$`)

var fieldName = regexp.MustCompile(`(?m)^[A-Za-z][\w-]*:`)

// frontMatter is the text between the fences at the beginning of a skill.
type frontMatter struct {
	Name         string   `yaml:"name"`
	Description  string   `yaml:"description"`
	AllowedTools yamlList `yaml:"allowed-tools,flow,omitempty"`
	Tags         yamlList `yaml:"tags,flow,omitempty"`
	AllowedAlso  yamlList `yaml:"allowed_tools,omitempty"` // the spelling of other clients
	Metadata     any      `yaml:"metadata,omitempty"`
}

// yamlList is a list of strings, or one string.
type yamlList []string

func (l *yamlList) UnmarshalYAML(value *yaml.Node) error {
	if value.Kind == yaml.ScalarNode {
		*l = yamlList{value.Value}
		return nil
	}
	return value.Decode((*[]string)(l))
}

// plainValue is a line of front matter whose value is neither quoted nor structured.
var plainValue = regexp.MustCompile(`(?m)^[\w-]+:[ \t]+[^\s"'\[{|>].*$`)

// skillOfText reads the front matter of a SKILL.md.
func skillOfText(text string) (skill, error) {
	k := skill{Text: text}
	lines := strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, opened := strings.CutPrefix(spacedFence.ReplaceAllString(lines, fence), fence+"\n")
	front, body, closed := strings.Cut(rest, "\n"+fence)
	if !opened || !closed {
		return k, noSkill(
			"a skill's text begins with front matter between two lines of ---, which has its name and description",
		)
	}
	front = fieldName.ReplaceAllStringFunc(front, strings.ToLower)
	var fields frontMatter
	if yaml.Unmarshal([]byte(front), &fields) != nil {
		// Authors often write a colon into a plain value, which YAML does not allow.
		front = plainValue.ReplaceAllStringFunc(front, func(line string) string {
			name, value, _ := strings.Cut(line, ":")
			return name + ": '" + strings.ReplaceAll(strings.TrimSpace(value), "'", "''") + "'"
		})
		if yaml.Unmarshal([]byte(front), &fields) != nil {
			return k, noSkill("the front matter is not valid YAML")
		}
	}
	k.Name, k.Description = strings.TrimSpace(fields.Name), fields.Description
	k.AllowedTools, k.Tags = fields.AllowedTools, fields.Tags
	if len(k.AllowedTools) == 0 {
		k.AllowedTools = fields.AllowedAlso
	}
	if _, err := json.Marshal(fields.Metadata); err == nil {
		k.Metadata = fields.Metadata
	} else {
		k.warnings = append(k.warnings, "metadata has no form in JSON, and stays in the text alone")
	}
	k.describe(body)
	return k, k.check()
}

// describe uses the first line of the text for a missing description.
func (k *skill) describe(text string) {
	const most = 1000
	k.Description = cmp.Or(strings.TrimSpace(k.Description), cut(firstLine(text), most))
}

// skillOfFiles reads a skill from a directory. Its SKILL.md lies at the top or in the only directory there.
func skillOfFiles(directory source) (skill, error) {
	var texts []int
	for i, file := range directory.files {
		if file.name == domain.SkillName && len(file.under) <= 1 {
			texts = append(texts, i)
		}
	}
	if len(texts) != 1 {
		return skill{}, noSkill("the archive must have one SKILL.md, at its top or in its only directory")
	}
	main := directory.files[texts[0]]
	text, err := body.Text(main.bytes)
	if err != nil || len(text) > domain.MaxContent {
		return skill{}, noSkill("SKILL.md is no text of at most %d bytes", domain.MaxContent)
	}
	k, err := skillOfText(text)
	k.warnings = append(k.warnings, directory.unread...)
	for i, file := range directory.files {
		if i == texts[0] {
			continue
		}
		if len(file.under) < len(main.under) || !slices.Equal(file.under[:len(main.under)], main.under) {
			return k, noSkill("%s lies outside the directory of the skill", file.relativePath())
		}
		file.under = file.under[len(main.under):]
		k.files = append(k.files, file)
	}
	return k, err
}

// check requires a name and a description.
func (k skill) check() error {
	var missing []string
	if domain.IsBlank(k.Name) {
		missing = append(missing, "name")
	}
	if domain.IsBlank(k.Description) {
		missing = append(missing, "description")
	}
	if len(missing) > 0 {
		return noSkill("a skill needs a %s", strings.Join(missing, " and a "))
	}
	return nil
}

// frontMatter is the front matter of the skill.
func (k skill) frontMatter() string {
	front, err := yaml.Marshal(frontMatter{
		Name: k.Name, Description: k.Description, AllowedTools: k.AllowedTools, Tags: k.Tags,
		Metadata: k.Metadata,
	})
	if err != nil {
		panic(err) // strings always have a YAML form
	}
	return fence + "\n" + string(front) + fence + "\n\n"
}

// toolText describes an MCP tool and its parameters.
func toolText(k skill, schema json.RawMessage) string {
	var parameters struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &parameters) // a schema may be anything
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", k.Name, k.Description)
	if len(parameters.Properties) > 0 {
		b.WriteString("\n## Parameters\n\n")
	}
	for _, name := range slices.Sorted(maps.Keys(parameters.Properties)) {
		p := parameters.Properties[name]
		kind := "any"
		if p.Type != nil {
			kind = fmt.Sprint(p.Type)
		}
		if slices.Contains(parameters.Required, name) {
			kind += ", required"
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", name, kind, p.Description)
	}
	fmt.Fprintf(&b, "\n## Input schema\n\n```json\n%s\n```\n", schema)
	return b.String()
}

// segment makes a name of a URI: it keeps letters, digits, Han characters and dashes, and replaces all others by
// underscores.
func segment(name string) string {
	const most = 50
	clean := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, strings.TrimSpace(name))
	runes := []rune(clean)
	return string(runes[:min(len(runes), most)])
}
