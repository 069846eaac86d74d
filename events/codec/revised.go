package codec

import (
	"encoding/json"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// revised is [domain.Revised] as it is recorded.
type revised struct {
	// Fields names every changed field, so that this is known even after the text is erased.
	Fields []string `data:"fields"`
	domain.Reclassed
	// New texts: null for a cleared field, absent for an unchanged one.
	Task     **string          `text:"task,omitempty"`
	Content  **string          `text:"content,omitempty"`
	Abstract **string          `text:"abstract,omitempty"`
	Overview **string          `text:"overview,omitempty"`
	Tags     **domain.Tags     `text:"tags,omitempty"`
	Meta     **json.RawMessage `text:"meta,omitempty"`
	Reason   string            `text:"reason,omitempty"`
}

func writeRevised(f domain.Revised) revised {
	w := revised{
		Fields: f.Names(), Reclassed: f.Reclassed,
		Task: orNull(f.Task, isEmpty), Content: orNull(f.Content, isEmpty),
		Abstract: orNull(f.Abstract, isEmpty), Overview: orNull(f.Overview, isEmpty),
		Tags:   orNull(f.Tags, func(t domain.Tags) bool { return len(t) == 0 }),
		Meta:   orNull(f.Meta, func(m json.RawMessage) bool { return len(m) == 0 }),
		Reason: f.Reason,
	}
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"task", f.Task != nil},
		{"content", f.Content != nil},
		{"abstract", f.Abstract != nil},
		{"overview", f.Overview != nil},
		{"tags", f.Tags != nil},
		{"meta", f.Meta != nil},
	} {
		if field.changed {
			w.Fields = append(w.Fields, field.name)
		}
	}
	return w
}

func readRevised(w revised) domain.Revised {
	return domain.Revised{
		Reclassed: w.Reclassed,
		Task:      changed(w.Fields, "task", w.Task),
		Content:   changed(w.Fields, "content", w.Content),
		Abstract:  changed(w.Fields, "abstract", w.Abstract),
		Overview:  changed(w.Fields, "overview", w.Overview),
		Tags:      changed(w.Fields, "tags", w.Tags),
		Meta:      changed(w.Fields, "meta", w.Meta),
		Reason:    w.Reason,
	}
}

func isEmpty(s string) bool { return s == "" }

func orNull[T any](value *T, isCleared func(T) bool) **T {
	if value == nil {
		return nil
	}
	if isCleared(*value) {
		value = nil
	}
	return &value
}

// changed is non-nil for a changed field; it is empty for a field that was cleared or whose text was erased.
func changed[T any](fields []string, name string, value **T) *T {
	switch {
	case !slices.Contains(fields, name):
		return nil
	case value == nil || *value == nil:
		return new(T)
	}
	return *value
}
