package markdown

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var (
	memoryFields = regexp.MustCompile(`(?s)<!--\s*MEMORY_FIELDS\b(.*?)\s*-->\s*$`)
	notionID     = regexp.MustCompile(`[ -]?[0-9a-f]{32}$`)
	wikiLink     = regexp.MustCompile(`\[\[([^\]|#^]+)[^\]]*\]\]`)
	fileLink     = regexp.MustCompile(`\]\(([^)\s]+\.(?:md|mdc|markdown))(?:#[^)]*)?\)`)
	property     = regexp.MustCompile(`^(?:\* )?([A-Z][A-Za-z -]{1,30}): (\S.*)$`)
	annalsLine   = regexp.MustCompile(`(?m)^annals: ?\{.*\}`)
	ownSection   = regexp.MustCompile(`(?s)<!-- annals:begin -->.*?<!-- annals:end -->\n?`)
	indexLine    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) \[[^\]]*\]\([^)]*\.md\)`)
)

// note reads a note: one item, or one for each section of a file with instructions.
func (in *Input) note(file, text string) ([]Item, error) {
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
		return []Item{{ID: known.ID, Task: title, Content: strings.TrimSpace(body), Known: known}}, nil
	}
	heading, body := titled(body)
	for key, value := range propertiesOf(body) {
		if _, known := fields[key]; !known {
			fields[key] = value
		}
	}
	title = cmp.Or(First(fields, "title", "name"), heading, First(fields, "topic", "event_name", "description"),
		notionID.ReplaceAllString(name, ""))
	base := Item{Type: "definition", Tags: map[string][]string{}, OccurredAt: dateOf(fields)}
	base.Category = categoryOf(fields)
	if base.Category != "" {
		base.Type = ""
	}
	author := First(fields, "author", "authors", "deciders", "decision-makers", "generated.by", "by")
	urls := slices.DeleteFunc(values(fields, "resource", "url", "sources.resource"), func(s string) bool {
		return !strings.HasPrefix(s, "http")
	})
	if author != "" || len(urls) > 0 {
		base.Source = &Source{SubmittedBy: LastRunes(author, 200), URLs: urls[:min(len(urls), 32)]}
	}
	tag := func(key string, some ...string) {
		for _, value := range some {
			if value = strings.Trim(value, "#\"' "); value != "" && len(value) <= 200 && len(base.Tags[key]) < 15 {
				base.Tags[key] = append(base.Tags[key], value)
			}
		}
	}
	tag("labels", values(fields, "tags", "tag", "labels", "keywords")...)
	tag("kind", values(fields, "type", "memory_type", "metadata.type")...)
	tag("status", values(fields, "status")...)
	tag("paths", values(fields, "globs", "paths")...)
	if folder := path.Dir(file); folder != "." {
		tag("folder", folder)
	}
	parts := []part{{"", body}}
	if isInstructions(file) {
		base.Type = "strategy"
		parts = sections(body)
	} else if len(body) > largestContent {
		parts = sections(body)
	}
	var all []Item
	for _, p := range parts {
		item := base
		item.Tags = maps.Clone(base.Tags)
		item.Content = strings.TrimSpace(p.text)
		if item.Content == "" {
			continue
		}
		var links []string
		found := append(wikiLink.FindAllStringSubmatch(p.text, 20), fileLink.FindAllStringSubmatch(p.text, 20)...)
		for _, link := range found {
			links = append(links, strings.TrimSpace(link[1]))
		}
		if slices.Sort(links); len(links) > 0 {
			links = slices.Compact(links)
			item.Tags["links"] = links[:min(len(links), 15)]
		}
		item.ID, item.Task = in.ID(file, p.heading), title
		if p.heading != "" {
			item.Task = title + ": " + p.heading
		}
		item.Task = FirstRunes(item.Task, 500)
		all = append(all, item)
	}
	return all, nil
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
	parsed := map[string]any{}
	if yaml.Unmarshal([]byte(head), &parsed) != nil || len(parsed) == 0 {
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
	line, below, _ := strings.Cut(strings.TrimLeft(text, "\n "), "\n")
	if heading, is := strings.CutPrefix(line, "# "); is {
		return strings.TrimSpace(heading), below
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
	if _, after, has := strings.Cut("\n"+rest, "\n## Status\n"); has {
		status, _, _ := strings.Cut(strings.TrimLeft(after, "\n"), "\n")
		fields["status"] = strings.ToLower(strings.TrimSpace(status))
	}
	return fields
}

// part is a section of a note.
type part struct{ heading, text string }

// sections splits a text at its headings of the first two levels, and what an agent has added under a heading of its
// own into lines. Lines that only point to other files are left out.
func sections(text string) []part {
	all, seen := []part{{}}, map[string]bool{}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
		level := len(line) - len(strings.TrimLeft(line, "#"))
		last := &all[len(all)-1]
		switch {
		case !fenced && (level == 1 || level == 2) && strings.HasPrefix(line[level:], " "):
			name := heading
			for n := 2; seen[name]; n++ {
				name = fmt.Sprintf("%s (%d)", heading, n)
			}
			seen[name] = true
			all = append(all, part{heading: name})
		case !fenced && indexLine.MatchString(line):
		case strings.HasPrefix(last.heading, "Gemini Added Memories") && strings.HasPrefix(line, "- "):
			fact := strings.TrimSpace(line[2:])
			all = append(all, part{"Gemini Added Memories: " + FirstRunes(fact, 40), fact})
		default:
			last.text += line
		}
	}
	return all
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
				if within, is := one.(map[string]any); is && nested {
					all = append(all, values(within, inner)...)
				} else if !is && !nested && one != nil {
					all = append(all, fmt.Sprint(one))
				}
			}
		case nil:
		case time.Time:
			all = append(all, value.Format(time.RFC3339))
		case string:
			if !nested {
				for word := range strings.SplitSeq(value, ",") {
					all = append(all, strings.TrimSpace(word))
				}
			}
		default:
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
		if all := values(fields, key); len(all) > 0 && all[0] != "" {
			return strings.Join(all, ", ")
		}
	}
	return ""
}

// dateOf is when a note was written.
func dateOf(fields map[string]any) *time.Time {
	for _, key := range []string{
		"date", "created", "created_at", "generated.at", "timestamp", "modified", "metadata.modified", "updated",
		"updated_at",
	} {
		if at := ParseDate(First(fields, key)); at != nil {
			return at
		}
	}
	return nil
}

// ParseDate is a time in one of the usual forms; nil for another text, or for a time to come.
func ParseDate(text string) *time.Time {
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999", "2006-01-02T15:04", "2006-01-02 15:04",
		time.DateOnly, "January 2, 2006 3:04 PM", "January 2, 2006", "Jan 02, 2006", "Jan 2, 2006",
	} {
		if at, err := time.Parse(form, strings.TrimSpace(text)); err == nil && at.Before(time.Now()) {
			at = at.UTC()
			return &at
		}
	}
	return nil
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
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}
