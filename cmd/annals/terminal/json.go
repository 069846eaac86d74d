package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Put sets a query parameter unless it is empty.
func Put(query url.Values, name string, values ...string) {
	for _, value := range values {
		if value != "" {
			query.Add(name, value)
		}
	}
}

// Kept is a value of an answer, which prints as the server's JSON.
type Kept[T any] struct {
	Value T
	Raw   json.RawMessage
}

func (k *Kept[T]) UnmarshalJSON(raw []byte) error {
	k.Raw = slices.Clone(raw)
	return json.Unmarshal(raw, &k.Value)
}

func (k Kept[T]) MarshalJSON() ([]byte, error) { return k.Raw, nil }

// Compact formats JSON in one line for people: an object as key=value, a list with commas.
func Compact(raw json.RawMessage) string { return Plain(Decoded(raw)) }

// Decoded is a JSON value with the digits of its numbers; nil if there is none.
func Decoded(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

func Plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = inside(part)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for key, part := range v {
			parts = append(parts, key+"="+inside(part))
		}
		slices.Sort(parts)
		return strings.Join(parts, " · ")
	default:
		return fmt.Sprint(v)
	}
}

// inside formats a value in a list or an object, where null is shown, too.
func inside(value any) string {
	if text := Plain(value); text != "" {
		return text
	}
	return Literal(value)
}

// Literal is a value as JSON text.
func Literal(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // the value came from JSON
	return strings.TrimSpace(text.String())
}

// Differing are the members that differ between two objects.
func Differing(before, after any) (_, _ any) {
	was, wasObject := before.(map[string]any)
	is, isObject := after.(map[string]any)
	if !wasObject || !isObject {
		return before, after
	}
	was, is = maps.Clone(was), maps.Clone(is)
	for key := range was {
		if other, both := is[key]; both && reflect.DeepEqual(was[key], other) {
			delete(was, key)
			delete(is, key)
		} else if both {
			was[key], is[key] = Differing(was[key], other)
		}
	}
	return was, is
}
