package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// edit is a change of a settings file of a host. Whatever else the file says stays byte for byte.
type edit interface {
	// put returns the file with the change. Put again, it changes nothing.
	put(text []byte) ([]byte, error)
	// take returns the file without the change.
	take(text []byte) ([]byte, error)
}

// jsonEdit sets a member of an object, or an element of an array, in JSON that may have comments.
type jsonEdit struct {
	path  []string // of the member, or of the array
	value any
	mark  string // in an array: what only our element contains
	stays bool   // an existing value is kept, and never taken
}

func (e jsonEdit) put(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	at, indent, rest, err := e.find(&doc)
	if err != nil {
		return nil, err
	}
	value := e.value
	list, isList := at.Value.(*hujson.Array)
	if !isList && e.mark != "" {
		value = []any{value}
	}
	for _, name := range slices.Backward(rest[min(1, len(rest)):]) {
		value = map[string]any{name: value}
	}
	unit := unitOf(text)
	if isList {
		parts := make([]part, len(list.Elements))
		for i := range parts {
			parts[i] = part{&list.Elements[i].BeforeExtra, &list.Elements[i]}
		}
		if i := slices.IndexFunc(list.Elements, e.ours); i >= 0 { // others may have added to it
			own := innermost(&list.Elements[i], e.mark)
			own.Value = hujson.String(commandIn(e.value))
			return doc.Pack(), nil
		}
		list.Elements = append(list.Elements, hujson.Value{})
		before, now := placed(parts, len(parts), &list.AfterExtra, value, indent, unit)
		now.BeforeExtra = before
		list.Elements[len(parts)] = now
		return doc.Pack(), nil
	}
	object := at.Value.(*hujson.Object)
	parts := make([]part, len(object.Members))
	for i := range parts {
		parts[i] = part{&object.Members[i].Name.BeforeExtra, &object.Members[i].Value}
	}
	i := member(object, rest[0])
	if i >= 0 && (e.stays || isSame(object.Members[i].Value, value)) {
		return text, nil
	}
	if i < 0 {
		i = len(parts)
		object.Members = append(object.Members, hujson.ObjectMember{})
	}
	before, now := placed(parts, i, &object.AfterExtra, value, indent, unit)
	now.BeforeExtra = hujson.Extra(" ")
	object.Members[i] = hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: before, Value: hujson.String(rest[0])}, Value: now,
	}
	return doc.Pack(), nil
}

func (e jsonEdit) take(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	at, _, rest, err := e.find(&doc)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 1 || e.stays:
		return text, nil
	}
	path, i := slices.Clone(e.path), -1
	if list, is := at.Value.(*hujson.Array); is {
		if i = slices.IndexFunc(list.Elements, e.ours); i >= 0 {
			path = append(path, fmt.Sprint(i))
			if group := list.Elements[i].Find("/hooks"); group != nil {
				if inner, is := group.Value.(*hujson.Array); is && len(inner.Elements) > 1 { // others have added to it
					path = append(path, "hooks", fmt.Sprint(slices.IndexFunc(inner.Elements, e.ours)))
				}
			}
		}
	} else if object := at.Value.(*hujson.Object); len(rest) == 1 && e.mark == "" {
		i = member(object, rest[0])
	}
	if i < 0 {
		return text, nil
	}
	for i, name := range path {
		path[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	for len(path) > 1 && isAlone(doc.Find("/"+strings.Join(path[:len(path)-1], "/"))) { // what becomes empty goes, too
		path = path[:len(path)-1]
	}
	patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": "/" + strings.Join(path, "/")}})
	if err == nil {
		err = doc.Patch(patch)
	}
	return doc.Pack(), err
}

func isAlone(v *hujson.Value) bool {
	if list, is := v.Value.(*hujson.Array); is {
		return len(list.Elements) == 1
	}
	return len(v.Value.(*hujson.Object).Members) == 1
}

// find follows the path as far as it leads. It returns the value there, how far its line is indented, and the rest of
// the path; none if it has found the array.
func (e jsonEdit) find(doc *hujson.Value) (at *hujson.Value, indent string, rest []string, err error) {
	at, rest = doc, e.path
	for {
		switch value := at.Value.(type) {
		case *hujson.Array:
			if len(rest) == 0 && e.mark != "" {
				return at, indent, nil, nil
			}
		case *hujson.Object:
			if len(rest) == 0 {
				break
			}
			i := member(value, rest[0])
			if i < 0 || len(rest) == 1 && e.mark == "" || value.Members[i].Value.Value.Kind() == 'n' {
				return at, indent, rest, nil
			}
			if lead := value.Members[i].Name.BeforeExtra; bytes.ContainsRune(lead, '\n') {
				indent = indentOf(lead)
			}
			at, rest = &value.Members[i].Value, rest[1:]
			continue
		}
		name := strings.Join(e.path[:len(e.path)-len(rest)], ".")
		return nil, "", nil, fmt.Errorf("%q holds something else than expected", name)
	}
}

// innermost is the string in a value that contains a mark.
func innermost(v *hujson.Value, mark string) *hujson.Value {
	for part := range v.All() {
		if literal, is := part.Value.(hujson.Literal); is && strings.Contains(literal.String(), mark) {
			return part
		}
	}
	return v
}

// commandIn is the command of an entry, or of the entry in a group.
func commandIn(entry any) string {
	fields := entry.(map[string]any)
	if group, is := fields["hooks"].([]any); is {
		return commandIn(group[0])
	}
	return fields["command"].(string)
}

// isSame tells whether a value says the same as another one, whatever its layout.
func isSame(v hujson.Value, value any) bool {
	v = v.Clone()
	v.Minimize()
	var was any
	written, _ := json.Marshal(value) // of strings, lists and maps
	now := was
	return json.Unmarshal(v.Pack(), &was) == nil && json.Unmarshal(written, &now) == nil && reflect.DeepEqual(was, now)
}

func (e jsonEdit) ours(v hujson.Value) bool { return strings.Contains(v.String(), e.mark) }

// part is a member or an element: what stands before it, and its value.
type part struct {
	before *hujson.Extra
	value  *hujson.Value
}

// placed formats a value as the i-th part, as the others are formatted, and returns what stands before it. tail is what
// stands before the closing bracket.
func placed(parts []part, i int, tail *hujson.Extra, value any, indent, unit string) (hujson.Extra, hujson.Value) {
	inner, lines := indent+unit, true
	if len(parts) > 0 {
		first := *parts[0].before
		lines = bytes.ContainsRune(first, '\n')
		if lines {
			inner = indentOf(first)
		}
	}
	written, _ := json.Marshal(value) // of strings, lists and maps
	if lines {
		var indented bytes.Buffer
		_ = json.Indent(&indented, written, inner, unit)
		written = indented.Bytes()
	}
	now, _ := hujson.Parse(written)
	if i < len(parts) { // it replaces ours
		now.AfterExtra = parts[i].value.AfterExtra
		return *parts[i].before, now
	}
	var before hujson.Extra
	if lines {
		before = hujson.Extra("\n" + inner)
	} else {
		before = hujson.Extra(" ")
	}
	if len(parts) == 0 {
		if lines && !bytes.ContainsRune(*tail, '\n') {
			*tail = append(*tail, "\n"+indent...)
		}
		return before, now
	}
	last := parts[len(parts)-1].value
	now.AfterExtra, last.AfterExtra = last.AfterExtra, nil // a comma before the bracket stays there
	if end := len(bytes.TrimRight(*tail, " \t\r\n")); lines && end > 0 {
		before, *tail = append(slices.Clone((*tail)[:end]), before...), (*tail)[end:] // a comment on the last one
	}
	return before, now
}

// member is the index of a member; -1 if there is none.
func member(object *hujson.Object, name string) int {
	return slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
		literal, is := m.Name.Value.(hujson.Literal)
		return is && literal.String() == name
	})
}

// indentOf is what a line begins with, at the end of what stands before a part.
func indentOf(before hujson.Extra) string {
	return string(before[bytes.LastIndexByte(before, '\n')+1:])
}

// unitOf is one step of indentation in a file.
func unitOf(text []byte) string {
	for line := range bytes.Lines(text) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; len(indent) > 0 {
			return string(indent)
		}
	}
	return "  "
}
