package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// arguments are the arguments of a call, by name and still encoded. Arguments that are null are left out.
type arguments map[string]json.RawMessage

// text is an argument that is a string; empty if it is none.
func (a arguments) text(name string) string {
	var text string
	_ = json.Unmarshal(a[name], &text)
	return text
}

// texts is an argument that is a list of strings, or a single string, which models send for a list of one.
func (a arguments) texts(name string) (list []string) {
	if one := a.text(name); one != "" {
		return []string{one}
	}
	_ = json.Unmarshal(a[name], &list)
	return list
}

// number is a whole number; otherwise if it is absent.
func (a arguments) number(name string, otherwise int) int {
	number, _ := strconv.ParseFloat(string(a[name]), 64)
	return cmp.Or(int(number), otherwise)
}

// knowledge is the item that the arguments say. They have the names of the HTTP API.
func (a arguments) knowledge() (k client.Knowledge, err error) {
	fields := maps.Clone(a)
	delete(fields, "confirm") // which models send as a string, too
	fields["scopes"], _ = json.Marshal(a.texts("scopes"))
	if text, _ := json.Marshal(fields); json.Unmarshal(text, &k) != nil {
		err = argumentError{"tags must be an object of strings, or of lists of strings"}
	}
	return k, err
}

// filter is what the arguments narrow a search to, besides the category: see [searches].
func (a arguments) filter() (f client.Filter) {
	fields := maps.Clone(a)
	delete(fields, "category")
	text, _ := json.Marshal(fields)
	_ = json.Unmarshal(text, &f) // read has checked them
	return f
}

// but are the arguments with the names of the HTTP API.
func (a arguments) but(renamed map[string]string, more map[string]any) map[string]any {
	body := map[string]any{}
	for name, value := range a {
		body[cmp.Or(renamed[name], name)] = value
	}
	maps.Copy(body, more)
	return body
}

// read decodes the arguments of a call. It refuses unknown arguments and values.
func (t tool) read(raw json.RawMessage) (arguments, error) {
	in := arguments{}
	if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &in) != nil {
		return in, argumentError{"the arguments must be an object"}
	}
	for _, f := range t.input {
		if value, given := in[f.name]; given {
			in[f.name] = f.unquoted(value)
		}
	}
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.ContainsFunc(t.input, func(f field) bool { return f.name == name }) {
			bad = append(bad, fmt.Sprintf("%q is not an argument of this tool", name))
		}
		if string(in[name]) == "null" {
			delete(in, name)
		}
	}
	for _, f := range t.input {
		value, given := in[f.name]
		isText := json.Unmarshal(value, new(string)) == nil
		isEmpty := isText && domain.IsBlank(in.text(f.name))
		switch {
		case f.required && (!given || isEmpty || string(value) == "[]"):
			bad = append(bad, f.name+" must not be empty")
		case given && !f.accepts(in, isText):
			bad = append(bad, f.name+" must be "+f.wanted())
		case !isEmpty && isText && len(f.values) > 0 && !slices.Contains(f.values, in.text(f.name)):
			bad = append(bad, f.name+" must be one of "+strings.Join(f.values, ", "))
		}
	}
	if len(bad) > 0 {
		return in, argumentError{strings.Join(bad, "; ")}
	}
	return in, nil
}

// unquoted is a number, a list or an object without the quotes that some hosts put around it.
func (f field) unquoted(value json.RawMessage) json.RawMessage {
	kind := cmp.Or(f.kind, fmt.Sprint(f.schema["type"]))
	var inside string
	_ = json.Unmarshal(value, &inside) // or it has none
	inside = strings.TrimSpace(inside)
	isScalar := slices.Contains([]string{"integer", "number", "boolean"}, kind)
	isOther := strings.HasPrefix(inside, "[") || strings.HasPrefix(inside, "{") && !strings.Contains(kind, "string")
	if !slices.Contains([]string{"string", item, id}, kind) && (isScalar || isOther) && json.Valid([]byte(inside)) {
		return json.RawMessage(inside)
	}
	return value
}

// The kinds of arguments that name an item: by URI or id, or by id alone.
const item, id = "item", "id"

// accepts tells whether an argument has the field's kind. It refuses a malformed id, which could change the path of a
// request to the API. The API checks arguments that have a schema of their own.
func (f field) accepts(in arguments, isText bool) bool {
	text := in.text(f.name)
	switch f.kind {
	case "string":
		return isText
	case "strings":
		return isText || json.Unmarshal(in[f.name], new([]string)) == nil
	case "integer": // 5 and 5.0, but not "5"
		number, err := strconv.ParseFloat(string(in[f.name]), 64)
		return err == nil && number == float64(int(number)) && number >= 1 && int(number) <= f.most
	case item:
		return strings.HasPrefix(text, "viking://") || domain.IsItemID(text)
	case id:
		return isText && text == "" || domain.IsItemID(text)
	}
	return true
}

// wanted describes the accepted values in the words of the HTTP API.
func (f field) wanted() string {
	const anID = "1 to 128 of A-Z a-z 0-9 . _ ~ - that begin with a letter or digit"
	if f.kind == "integer" {
		return "a whole number from 1 to " + strconv.Itoa(f.most)
	}
	return map[string]string{
		"string": "a string", "strings": "a list of strings", item: "a viking:// URI, or an id: " + anID, id: anID,
	}[f.kind]
}
