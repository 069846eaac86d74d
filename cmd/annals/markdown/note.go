package markdown

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

var (
	memoryFields = regexp.MustCompile(`(?s)<!--\s*MEMORY_FIELDS\b(.*?)\s*-->\s*$`)
	notionID     = regexp.MustCompile(`[ -]?[0-9a-f]{32}$`)
	property     = regexp.MustCompile(`^(?:\* )?([A-Z][A-Za-z -]{1,30}): (\S.*)$`)
	annalsLine   = regexp.MustCompile(`(?m)^annals: ?\{.*\}`)
	annalsField  = regexp.MustCompile(`(?m)^annals:[ \t]*(?:\{.*\}|(?:\r?\n[ \t]+\w.*)+)`) // Obsidian writes lines
	ownSection   = regexp.MustCompile(`(?s)<!-- annals:begin -->.*?<!-- annals:end -->\n?`)
	blankLine    = regexp.MustCompile(`\n[ \t]*\n`)
	indexLine    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) \[[^\]]*\]\([^)]*\.md\)`)
)

// Note reads a note, or what another program has written in the form of one: an item, or one for each section of a file
// with instructions.
func (in *Input) Note(file, text string) ([]Item, error) {
	text = ownSection.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	fields, head, body := frontMatter(text)
	if found := memoryFields.FindStringSubmatchIndex(body); found != nil {
		_ = json.Unmarshal([]byte(body[found[2]:found[3]]), &fields) // without them, the text still counts
		body = body[:found[0]]
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if isReserved(name, body) {
		return nil, nil
	}
	known, title := knownOf(head)
	switch {
	case known == nil && annalsLine.MatchString(FirstRunes(text, 4000)):
		return nil, errors.New("has first lines that cannot be read: mend them, or take the line annals out for a new item")
	case known != nil && strings.TrimSpace(body) == "":
		return nil, errors.New("has no text: annals forget " + known.ID + " forgets its item")
	case known != nil:
		item := Item{ID: in.ID(file, ""), Type: First(fields, "type"), Task: title, Known: known}
		item.Content, item.Tags = strings.TrimSpace(body), map[string][]string{}
		item.Abstract = abstractOf(fields)
		item.tag("labels", values(fields, "tags")...)
		item.tag("aliases", values(fields, "aliases")...)
		return []Item{item}, nil
	}
	heading, body := titled(body)
	for key, value := range propertiesOf(body) {
		if _, known := fields[key]; !known {
			fields[key] = value
		}
	}
	about := abstractOf(fields)
	title = cmp.Or(First(fields, "title", "name"), heading, First(fields, "topic", "event_name"))
	if isRule := strings.HasSuffix(strings.ToLower(file), ".mdc"); isRule && title == "" {
		title, about = about, ""
	}
	if domain.IsBlank(title) {
		title = notionID.ReplaceAllString(name, "")
	}
	base := Item{Type: "definition", Abstract: about, Tags: map[string][]string{}, OccurredAt: dateOf(fields, name)}
	base.Category = categoryOf(fields)
	if base.Category != "" {
		base.Type = ""
	}
	author := First(fields, "author", "authors", "deciders", "decision-makers", "generated.by", "by")
	urls := slices.DeleteFunc(values(fields, "resource", "url", "sources.resource"), func(s string) bool {
		parsed, err := url.Parse(s)
		return err != nil || !strings.HasPrefix(parsed.Scheme, "http") || len(s) > 2048
	})
	if author != "" || len(urls) > 0 {
		base.Source = &Source{SubmittedBy: LastRunes(author, 200), URLs: urls[:min(len(urls), 32)]}
	}
	base.tag("labels", values(fields, "tags", "tag", "labels", "keywords")...)
	base.tag("aliases", values(fields, "aliases", "alias")...)
	base.tag("kind", values(fields, "type", "memory_type", "metadata.type")...)
	base.tag("status", values(fields, "status")...)
	base.tag("paths", values(fields, "globs", "paths")...)
	_, folder, _ := strings.Cut(path.Dir(in.placeOf(file).name), "/")
	base.tag("folder", folder)
	parts := []part{{"", body}}
	if isInstructions(file) {
		base.Type = "strategy"
		parts = sections(body)
	}
	var fitting []part
	for _, p := range parts {
		if most := largestContent; len(p.text) > most {
			fitting = append(fitting, split(p, most-most/16)...) // an export makes links longer
		} else {
			fitting = append(fitting, p)
		}
	}
	var all []Item
	for _, p := range named(fitting) {
		item := base
		item.Tags = cloned(base.Tags)
		item.Content = strings.TrimSpace(p.text)
		if item.Content == "" {
			continue
		}
		read := parse(p.text)
		links := read.links()
		item.tag("labels", read.hashTags(links)...)
		for _, l := range links {
			if l.wiki || isNote(l.target) {
				item.tag("links", l.target)
			}
		}
		slices.Sort(item.Tags["links"])
		item.ID, item.Task = in.ID(file, p.heading), title
		item.Meta = in.From(file, p.heading)
		if strings.HasPrefix(p.heading, "(") { // a part without a heading
			item.Task += " " + p.heading
		} else {
			item.Task = terminal.Joined(": ", title, p.heading)
		}
		item.Task = FirstRunes(item.Task, 500)
		all = append(all, item)
	}
	return all, nil
}

func abstractOf(fields map[string]any) string {
	if about := FirstRunes(First(fields, "description"), 4000); !domain.IsBlank(about) {
		return about
	}
	return ""
}

// mostValues are how many values of a tag are kept: all tags of an item together have at most 64.
var mostValues = map[string]int{"labels": 20, "links": 15, "aliases": 10, "paths": 8}

// tag adds values of a tag. It leaves out those that no tag can have.
func (i *Item) tag(key string, values ...string) {
	for _, value := range values {
		value = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(value, "[["), "]]"), "#\"' ")
		if !domain.IsBlank(value) && utf8.RuneCountInString(value) <= 256 && !slices.Contains(i.Tags[key], value) &&
			len(i.Tags[key]) < cmp.Or(mostValues[key], 3) {
			i.Tags[key] = append(i.Tags[key], value)
		}
	}
}

// cloned are tags to which others can be added.
func cloned(tags map[string][]string) map[string][]string {
	all := maps.Clone(tags)
	for key := range all {
		all[key] = slices.Clone(all[key])
	}
	return all
}

// isReserved tells whether a file only lists others, as an index or a log of the Open Knowledge Format does.
func isReserved(name, body string) bool {
	if name != "index" && name != "log" {
		return false
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		listed := strings.HasPrefix(line, "* [") || strings.HasPrefix(line, "- [") || strings.HasPrefix(line, "* **")
		if line != "" && !strings.HasPrefix(line, "#") && !listed {
			return false
		}
	}
	return true
}

// isInstructions tells whether a file tells agents many things, one in each section.
func isInstructions(file string) bool {
	name := strings.ToLower(path.Base(file))
	return slices.Contains([]string{
		"claude.md", "claude.local.md", "agents.md", "gemini.md", "qwen.md", "memory.md", ".cursorrules", "global_rules.md",
	}, name)
}

var frontEnd = regexp.MustCompile(`\n(?:---|\.\.\.)[ \t]*\n`)

// frontMatter splits the fields at the beginning of a note from its text. Their names are in lower case.
func frontMatter(text string) (fields map[string]any, head, body string) {
	fields = map[string]any{}
	rest, has := strings.CutPrefix(text, "---\n")
	rest = "\n" + rest
	end := frontEnd.FindStringIndex(rest)
	if !has || end == nil {
		return fields, "", text
	}
	head, body = rest[:end[0]], rest[end[1]:]
	var node yaml.Node
	_ = yaml.Unmarshal([]byte(head), &node) // read as lines below
	parsed, _ := spelt(&node).(map[string]any)
	if len(parsed) == 0 {
		parsed = map[string]any{} // such as globs: **/*.ts, which is no YAML
		for line := range strings.Lines(head) {
			line = strings.TrimSpace(line)
			key, value, is := strings.Cut(line, ":")
			if line != "" && (!is || strings.ContainsAny(key, " #")) {
				return fields, "", text // a text between two lines
			}
			parsed[key] = strings.TrimSpace(value)
		}
		delete(parsed, "")
	}
	for key, value := range parsed {
		fields[strings.ToLower(key)] = value
	}
	if len(fields) == 0 {
		return fields, "", text
	}
	return fields, head, body
}

// titled splits a heading of the first level at the beginning from a text.
func titled(text string) (title, rest string) {
	first := text // down to the blank line that ends every heading
	begin := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	if end := blankLine.FindStringIndex(text[begin:]); end != nil {
		first = text[:begin+end[0]+1]
	}
	all := parse(first).headings
	if len(all) > 0 && all[0].level == 1 && strings.TrimSpace(text[:all[0].start]) == "" {
		return all[0].name, text[all[0].end:]
	}
	return "", text
}

// propertiesOf are lines such as "Status: Done" at the beginning of a text, and the status of a decision record.
func propertiesOf(text string) map[string]any {
	fields, rest := map[string]any{}, strings.TrimLeft(text, "\n")
	for {
		line, below, _ := strings.Cut(rest, "\n")
		found := property.FindStringSubmatch(line)
		if found == nil {
			break
		}
		fields[strings.ToLower(found[1])], rest = found[2], strings.TrimLeft(below, "\n")
	}
	if !strings.Contains(rest, "Status") {
		return fields
	}
	for _, h := range parse(rest).headings {
		if h.level == 2 && h.name == "Status" {
			status, _, _ := strings.Cut(strings.TrimLeft(rest[h.end:], "\n"), "\n")
			fields["status"] = strings.ToLower(strings.TrimSpace(status))
		}
	}
	return fields
}

// spelt is YAML as maps, lists and texts. A text is as it was written: 1.10 stays 1.10. Of aliases, only texts are
// read: others may stand for more than memory can hold.
func spelt(node *yaml.Node) any {
	switch node.Kind {
	case yaml.DocumentNode:
		return spelt(node.Content[0])
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			all[node.Content[i].Value] = spelt(node.Content[i+1])
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, inner := range node.Content {
			all = append(all, spelt(inner))
		}
		return all
	case yaml.AliasNode:
		if node.Alias.Kind == yaml.ScalarNode {
			return spelt(node.Alias)
		}
	case yaml.ScalarNode:
		if node.Tag != "!!null" {
			return node.Value
		}
	}
	return nil
}

// values are the words under some keys; a.b is b in a, or in each of a list a.
func values(fields map[string]any, keys ...string) (all []string) {
	for _, key := range keys {
		outer, inner, nested := strings.Cut(key, ".")
		switch value := fields[outer].(type) {
		case map[string]any:
			if nested {
				all = append(all, values(value, inner)...)
			}
		case []any:
			for _, one := range value {
				if text, is := one.(string); is && !nested {
					all = append(all, text)
				} else if !is {
					all = append(all, values(map[string]any{outer: one}, key)...)
				}
			}
		case string:
			if !nested {
				for word := range strings.SplitSeq(value, ",") {
					all = append(all, strings.TrimSpace(word))
				}
			}
		case float64, bool: // of JSON
			if !nested {
				all = append(all, fmt.Sprint(value))
			}
		}
	}
	return all
}

// First is what the first of some keys says, whole.
func First(fields map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, is := fields[key].(string); is && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
		if all := values(fields, key); len(all) > 0 && all[0] != "" {
			return strings.Join(all, ", ")
		}
	}
	return ""
}

// categoryOf is our category of a memory.
func categoryOf(fields map[string]any) string {
	switch kind := First(fields, "memory_type", "metadata.type"); kind {
	case "profile", "preferences", "entities", "events", "cases", "patterns", "tools", "skills":
		return kind
	case "user":
		return "preferences"
	case "feedback":
		return "patterns"
	}
	return ""
}

// FirstRunes is the beginning of a text, of at most some characters.
func FirstRunes(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i]
		}
	}
	return s
}
