package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// arguments are all that tools take; each takes some.
type arguments struct {
	Query    string          `json:"query"`
	Category string          `json:"category"`
	Limit    number          `json:"limit"`
	Content  string          `json:"content"`
	Polarity string          `json:"polarity"`
	Task     string          `json:"task"`
	URI      string          `json:"uri"`
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Abstract string          `json:"abstract"`
	Reason   string          `json:"reason"`
	Verdict  string          `json:"verdict"`
	Outcome  string          `json:"outcome"`
	TraceID  string          `json:"trace_id"`
	Owner    string          `json:"owner"`
	Scopes   stringList      `json:"scopes"`
	Tags     json.RawMessage `json:"tags"`
}

// number is a whole number of 1 or more; 0 if absent.
type number int

// UnmarshalJSON reads what the HTTP API takes for one: 5 and 5.0, but no "5".
func (n *number) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || value != float64(int(value)) || value < 1 {
		return argumentError{"must be a whole number of 1 or more"}
	}
	*n = number(value)
	return nil
}

// stringList is a list of strings; models write one alone, too.
type stringList []string

// UnmarshalJSON reads either.
func (w *stringList) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if one != "" {
			*w = stringList{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(w))
}

// read takes the arguments of a call. What a tool does not know is refused, as is a word that is none of the known
// ones.
func read(raw json.RawMessage, fields []field) (arguments, error) {
	var in arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &given); err != nil {
		return in, argumentError{"the arguments must be an object"}
	}
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			bad = append(bad, strconv.Quote(name)+" is not an argument of this tool")
		}
	}
	for _, f := range fields {
		value := given[f.name]
		if f.required && empty(value) {
			bad = append(bad, f.name+" must not be empty")
			continue
		}
		one, err := json.Marshal(map[string]json.RawMessage{f.name: value})
		if value == nil || err != nil {
			continue
		}
		if json.Unmarshal(one, &in) != nil || f.kind == "integer" && int(in.Limit) > f.most || !f.names(textOf(value)) {
			bad = append(bad, f.name+" must be "+f.wanted())
			continue
		}
		if f.kind == "string" && len(f.values) > 0 && !empty(value) && !slices.Contains(f.values, textOf(value)) {
			bad = append(bad, f.name+" must be one of "+strings.Join(f.values, ", "))
		}
	}
	if len(bad) > 0 {
		return in, argumentError{strings.Join(bad, "; ")}
	}
	return in, nil
}

// What names an item: its URI or its id, or its id alone.
const item, id = "item", "id"

const anID = "1 to 128 of A-Z a-z 0-9 . _ ~ - that begin with a letter or digit"

var kinds = map[string]string{
	"string": "a string", "strings": "a list of strings", "object": "an object", item: "a viking:// URI, or an id: " +
		anID, id: anID,
}

// names tells whether a text can name an item, if it is there to: in a path of the API any other could lead elsewhere.
func (f field) names(text string) bool {
	switch f.kind {
	case item:
		return strings.HasPrefix(text, "viking://") || domain.IsItemID(text)
	case id:
		return text == "" || domain.IsItemID(text)
	}
	return true
}

// wanted says what may be given, as the HTTP API says it.
func (f field) wanted() string {
	if f.kind == "integer" {
		return "a whole number from 1 to " + strconv.Itoa(f.most)
	}
	return kinds[f.kind]
}

func empty(value json.RawMessage) bool {
	var text string
	return len(value) == 0 || string(value) == "null" ||
		json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) == ""
}

// textOf is a string; empty for anything else.
func textOf(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text)
	return text
}
