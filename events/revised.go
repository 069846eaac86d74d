package events

import (
	"encoding/json"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// revisedData names every field that was changed, so that this is still known when the text is gone.
type revisedData struct {
	Fields   []string         `json:"fields"`
	Type     *domain.Type     `json:"type,omitempty"`
	Category *domain.Category `json:"category,omitempty"`
	Polarity *domain.Polarity `json:"polarity,omitempty"`
}

// revisedText has the new values, null for a field that was cleared, and why.
type revisedText struct {
	Task     **string          `json:"task,omitempty"`
	Content  **string          `json:"content,omitempty"`
	Abstract **string          `json:"abstract,omitempty"`
	Overview **string          `json:"overview,omitempty"`
	Tags     **domain.Tags     `json:"tags,omitempty"`
	Meta     **json.RawMessage `json:"meta,omitempty"`
	Reason   string            `json:"reason,omitempty"`
}

func splitRevised(f domain.Revised) (revisedData, revisedText) {
	d := revisedData{Type: f.Type, Category: f.Category, Polarity: f.Polarity}
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"type", f.Type != nil},
		{"category", f.Category != nil},
		{"polarity", f.Polarity != nil},
		{"task", f.Task != nil},
		{"content", f.Content != nil},
		{"abstract", f.Abstract != nil},
		{"overview", f.Overview != nil},
		{"tags", f.Tags != nil},
		{"meta", f.Meta != nil},
	} {
		if field.changed {
			d.Fields = append(d.Fields, field.name)
		}
	}
	return d, revisedText{
		Task: orNull(f.Task, isEmpty), Content: orNull(f.Content, isEmpty),
		Abstract: orNull(f.Abstract, isEmpty), Overview: orNull(f.Overview, isEmpty),
		Tags: orNull(f.Tags, hasNoTags), Meta: orNull(f.Meta, hasNoMeta),
		Reason: f.Reason,
	}
}

func joinRevised(d revisedData, t revisedText) domain.Revised {
	return domain.Revised{
		Type: d.Type, Category: d.Category, Polarity: d.Polarity,
		Task:     changed(d.Fields, "task", t.Task),
		Content:  changed(d.Fields, "content", t.Content),
		Abstract: changed(d.Fields, "abstract", t.Abstract),
		Overview: changed(d.Fields, "overview", t.Overview),
		Tags:     changed(d.Fields, "tags", t.Tags),
		Meta:     changed(d.Fields, "meta", t.Meta),
		Reason:   t.Reason,
	}
}

// orNull is left out for a field that was left alone, and null for one that was cleared.
func orNull[T any](value *T, isCleared func(T) bool) **T {
	if value == nil {
		return nil
	}
	if isCleared(*value) {
		value = nil
	}
	return &value
}

// changed is empty, not nil, for a field that was cleared or whose text is gone.
func changed[T any](fields []string, name string, value **T) *T {
	switch {
	case !slices.Contains(fields, name):
		return nil
	case value == nil || *value == nil:
		return new(T)
	}
	return *value
}

func isEmpty(s string) bool            { return s == "" }
func hasNoTags(t domain.Tags) bool     { return len(t) == 0 }
func hasNoMeta(m json.RawMessage) bool { return len(m) == 0 }
