package domain

import (
	"encoding/json"
	"time"
)

// field is a named value of an item; nil values are absent.
type field struct {
	name  string
	value any
	text  string // a comparable form of value
}

// snapshot lists the fields that a history shows, in the order in which it shows them.
func snapshot(k *Knowledge) []field {
	if !k.Exists() {
		return nil
	}
	tags := any(nil)
	if len(k.Text.Tags) > 0 {
		tags = k.Text.Tags
	}
	fields := []field{
		{name: "type", value: word(string(k.Type))},
		{name: "category", value: word(string(k.Category))},
		{name: "polarity", value: word(string(k.Polarity))},
		{name: "scopes", value: k.Scopes},
		{name: "owner", value: word(string(k.Owner))},
		{name: "task", value: word(k.Text.Task)},
		{name: "content", value: word(k.Text.Content)},
		{name: "abstract", value: word(k.Text.Abstract)},
		{name: "overview", value: word(k.Text.Overview)},
		{name: "tags", value: tags},
		{name: "meta", value: raw(k.Text.Meta)},
		{name: "uri", value: word(k.Text.URI)},
		{name: "eval.helpful", value: k.Helpful},
		{name: "eval.harmful", value: k.Harmful},
		{name: "eval.confidence", value: k.Confidence},
		{name: "stale.reporters", value: k.Stale.Reporters},
		{name: "stale.reason", value: word(k.Stale.Reason)},
		{name: "confirmed_at", value: moment(k.ConfirmedAt)},
		{name: "status", value: word(string(k.Status))},
		{name: "superseded_by", value: word(k.SupersededBy)},
		{name: "held", value: k.Held},
	}
	for i := range fields {
		encoded, _ := json.Marshal(fields[i].value)
		fields[i].text = string(encoded)
	}
	return fields
}

func word(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func raw(m json.RawMessage) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// differences are the fields whose values changed. Before the first event there is nothing, and
// only what is there afterwards counts.
func differences(before, after []field) []Change {
	var changes []Change
	for i, now := range after {
		var was field
		if before != nil {
			was = before[i]
		} else {
			was.text = "null"
		}
		if was.text == now.text {
			continue
		}
		changes = append(changes, Change{Field: now.name, Before: was.value, After: now.value})
	}
	return changes
}
