package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/annals-kb/annals/client"
)

// knowledgeOf reads the item that a write answers with, if it does.
func knowledgeOf(a *client.Response) (knowledge, bool) {
	var k knowledge
	return k, json.Unmarshal(a.Body, &k) == nil && k.ID != ""
}

// put sets a query parameter unless it is empty.
func put(query url.Values, name string, values ...string) {
	for _, value := range values {
		if value != "" {
			query.Add(name, value)
		}
	}
}

func reasonQuery(reason string) url.Values {
	query := url.Values{}
	put(query, "reason", reason)
	return query
}

// compact prints JSON as people write it in a line: an object as key=value, a list with commas.
func compact(raw json.RawMessage) string { return plain(decoded(raw)) }

// decoded is a JSON value whose numbers are as they were written; nil if there is none.
func decoded(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

func plain(value any) string {
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

// inside is a value in a list or an object, where nothing is something, too.
func inside(value any) string {
	if text := plain(value); text != "" {
		return text
	}
	return literal(value)
}

// literal is a value as JSON.
func literal(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // it was JSON
	return strings.TrimSpace(text.String())
}

// differing leaves of two objects what is not the same in both.
func differing(before, after any) (_, _ any) {
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
			was[key], is[key] = differing(was[key], other)
		}
	}
	return was, is
}
