package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// knowledgeOf reads the item that a write answers with, if it does.
func knowledgeOf(a *answer) (knowledge, bool) {
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
func compact(raw json.RawMessage) string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return ""
	}
	return plain(value)
}

func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.4g", v)
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = plain(part)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for key, part := range v {
			if text := plain(part); text != "" {
				parts = append(parts, key+"="+text)
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, " · ")
	default:
		return fmt.Sprint(v)
	}
}
