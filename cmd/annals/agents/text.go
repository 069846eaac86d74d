package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// errByHand means that a file is valid, but written in a form that cannot be edited without changing the rest.
var errByHand = errors.New("it is written in a form that must be edited by hand")

// tomlEdit sets a table in TOML.
type tomlEdit struct {
	table string // such as mcp_servers.annals
	body  string
}

func (e tomlEdit) put(text []byte) ([]byte, error) {
	rest, err := e.take(text)
	if err != nil {
		return nil, err
	}
	block := "[" + e.table + "]\n" + e.body
	if bytes.Contains(text, []byte(block)) {
		return text, nil
	}
	return guarded(text, appended(rest, block), toml.Unmarshal, strings.Split(e.table, "."))
}

func (e tomlEdit) take(text []byte) ([]byte, error) {
	name := regexp.QuoteMeta(e.table)
	own := regexp.MustCompile(`^[ \t]*\[` + name + `(\..*)?\]`)
	var kept []byte
	inside, pending := false, []byte(nil)
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case len(trimmed) > 0 && trimmed[0] == '[':
			kept, pending = append(kept, pending...), nil // comments and empty lines belong to what follows
			inside = own.Match(line)
		case inside && (len(trimmed) == 0 || trimmed[0] == '#'):
			pending = append(pending, line...)
			continue
		case inside:
			pending = nil
		}
		if !inside {
			kept = append(kept, line...)
		}
	}
	if kept = append(kept, pending...); len(kept) < len(text) {
		kept = append(bytes.TrimRight(kept, "\n"), '\n')
	}
	return guarded(text, kept, toml.Unmarshal, strings.Split(e.table, "."))
}

// yamlEdit sets a value in YAML, at a path of one or two keys; nil removes it.
type yamlEdit struct {
	path  []string
	value any
}

func (e yamlEdit) put(text []byte) ([]byte, error) {
	rest, err := e.cut(text, false)
	if err != nil || e.value == nil {
		return rest, err
	}
	var doc yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(rest))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if documents.Decode(&yaml.Node{}) == nil {
		return nil, errByHand
	}
	key, value := entry(&doc, e.path[:1])
	if len(e.path) == 1 || key == nil {
		whole := e.value
		for _, name := range slices.Backward(e.path) {
			whole = map[string]any{name: whole}
		}
		block := written(whole, 0)
		if bytes.Contains(append([]byte("\n"), text...), []byte("\n"+block)) {
			return text, nil
		}
		return guarded(text, appended(rest, block), yaml.Unmarshal, e.path)
	}
	lines := slices.Collect(bytes.Lines(rest))
	indent := key.Column + 1
	switch {
	case value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0:
		indent = value.Content[0].Column - 1
	case value.Kind == yaml.MappingNode && len(value.Content) == 0:
		line := &lines[key.Line-1]
		*line = bytes.Replace(*line, []byte(" {}"), nil, 1)
	case value.Tag != "!!null":
		return nil, errByHand
	}
	if !bytes.HasSuffix(lines[key.Line-1], []byte("\n")) {
		lines[key.Line-1] = append(slices.Clone(lines[key.Line-1]), '\n')
	}
	block := written(map[string]any{e.path[1]: e.value}, indent)
	lines = slices.Insert(lines, key.Line, []byte(block))
	return guarded(text, bytes.Join(lines, nil), yaml.Unmarshal, e.path)
}

func (e yamlEdit) take(text []byte) ([]byte, error) { return e.cut(text, true) }

// cut removes the value, and on request what becomes empty thereby.
func (e yamlEdit) cut(text []byte, emptied bool) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	key, _ := entry(&doc, e.path)
	if key == nil {
		return text, nil
	}
	if outer, all := entry(&doc, e.path[:1]); emptied && len(all.Content) == 2 {
		key = outer
	}
	lines := slices.Collect(bytes.Lines(text))
	end := key.Line
	for i := key.Line; i < len(lines); i++ {
		content := bytes.TrimLeft(lines[i], " ")
		blank := len(bytes.TrimSpace(content)) == 0 || content[0] == '#'
		if !blank && len(lines[i])-len(content) < key.Column {
			break
		}
		if !blank {
			end = i + 1
		}
	}
	return guarded(text, bytes.Join(slices.Delete(lines, key.Line-1, end), nil), yaml.Unmarshal, e.path)
}

// entry is the key at a path, and its value; nil if there is none.
func entry(doc *yaml.Node, path []string) (key, value *yaml.Node) {
	if len(doc.Content) == 0 {
		return nil, nil
	}
	value = doc.Content[0]
	for _, name := range path {
		i := -1
		if value.Kind == yaml.MappingNode {
			for n := 0; n < len(value.Content) && i < 0; n += 2 {
				if value.Content[n].Value == name {
					i = n
				}
			}
		}
		if i < 0 {
			return nil, nil
		}
		key, value = value.Content[i], value.Content[i+1]
	}
	return key, value
}

// written is a value in YAML, with each line indented.
func written(value any, indent int) string {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	_ = encoder.Encode(value) // of strings, lists and maps
	var lines strings.Builder
	for line := range strings.Lines(b.String()) {
		lines.WriteString(strings.Repeat(" ", indent) + line)
	}
	return lines.String()
}

// guarded returns an edited text if nothing but the value at a path differs from the text before.
func guarded(before, after []byte, unmarshal func([]byte, any) error, path []string) ([]byte, error) {
	var was, is map[string]any
	if err := unmarshal(before, &was); err != nil {
		return nil, err
	}
	if err := unmarshal(after, &is); err != nil || !reflect.DeepEqual(without(was, path), without(is, path)) {
		return nil, errByHand
	}
	return after, nil
}

// without removes the value at a path, and what becomes empty thereby.
func without(values map[string]any, path []string) map[string]any {
	if len(path) == 1 {
		delete(values, path[0])
	} else if inner, is := values[path[0]].(map[string]any); is || values[path[0]] == nil {
		if inner = without(inner, path[1:]); len(inner) == 0 {
			delete(values, path[0])
		}
	}
	if values == nil {
		return map[string]any{}
	}
	return values
}

// section is a part of a file of instructions, between two comments.
type section struct{ body string }

const sectionBegins, sectionEnds = "<!-- annals:begin -->\n", "<!-- annals:end -->\n"

func (s section) put(text []byte) ([]byte, error) {
	begins, ends, err := s.find(text)
	block := sectionBegins + s.body + sectionEnds
	switch {
	case err != nil:
		return nil, err
	case begins < 0:
		return appended(text, block), nil
	}
	return slices.Concat(text[:begins], []byte(block), text[ends:]), nil
}

func (s section) take(text []byte) ([]byte, error) {
	begins, ends, err := s.find(text)
	if err != nil || begins < 0 {
		return text, err
	}
	before := text[:begins]
	if bytes.HasSuffix(before, []byte("\n\n")) {
		before = before[:begins-1]
	}
	return slices.Concat(before, text[ends:]), nil
}

func (section) find(text []byte) (begins, ends int, err error) {
	begins, ends = bytes.Index(text, []byte(sectionBegins)), bytes.Index(text, []byte(sectionEnds))
	if (begins < 0) != (ends < 0) || begins > ends || bytes.Count(text, []byte(sectionBegins)) > 1 {
		return 0, 0, fmt.Errorf("the comments annals:begin and annals:end are not one pair")
	}
	return begins, ends + len(sectionEnds), nil
}

// appended is a text with a block at its end, after an empty line.
func appended(text []byte, block string) []byte {
	all := slices.Clone(text)
	if len(all) > 0 && !bytes.HasSuffix(all, []byte("\n")) {
		all = append(all, '\n')
	}
	if len(all) > 0 {
		all = append(all, '\n')
	}
	return append(all, block...)
}
