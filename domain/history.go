package domain

import (
	"reflect"
	"time"
)

// Change is what an event changed in one field.
type Change struct {
	Field  string
	Before any // nil if there was nothing
	After  any // nil if nothing is left
}

// HistoryItem is an event of an item with what it changed.
type HistoryItem struct {
	Event      Event
	Changes    []Change
	Confidence float64 // after it
	Policy     string  // which confidence policy computed that, and the changes of confidence
	Revision   int64   // after it
}

// History folds the events of one item's stream, oldest first, and notes what each changed. The
// errors are those of [Knowledge.Evolve].
func History(id string, events []Event, policy ConfidencePolicy) ([]HistoryItem, error) {
	items := make([]HistoryItem, 0, len(events))
	k := &Knowledge{ID: id}
	before := snapshot(k)
	for _, event := range events {
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, err
		}
		after := snapshot(k)
		items = append(items, HistoryItem{
			Event: event, Changes: differences(before, after),
			Confidence: k.Confidence, Policy: policy.Name, Revision: k.Revision,
		})
		before = after
	}
	return items, nil
}

// field is a named value of an item; a value of nil is absent.
type field struct {
	name  string
	value any
}

// snapshot lists the fields that a history shows, in the order in which it shows them.
func snapshot(k *Knowledge) []field {
	return []field{
		{"type", present(k.Type)},
		{"context_type", present(k.ContextType)},
		{"category", present(k.Category)},
		{"polarity", present(k.Polarity)},
		{"media", present(k.Media)},
		{"scopes", several(k.Scopes)},
		{"visibility", visibility(k)},
		{"owner", present(k.Owner)},
		{"task", present(k.Text.Task)},
		{"content", present(k.Text.Content)},
		{"abstract", present(k.Text.Abstract)},
		{"overview", present(k.Text.Overview)},
		{"tags", labels(k.Text.Tags)},
		{"meta", several(k.Text.Meta)},
		{"uri", present(k.Text.URI)},
		{"eval.helpful", k.Helpful},
		{"eval.harmful", k.Harmful},
		{"eval.confidence", k.Confidence},
		{"stale.reporters", k.Stale.Reporters},
		{"stale.reason", present(k.Stale.Reason)},
		{"confirmed_at", timeValue(k.ConfirmedAt)},
		{"confirm_until", timeValue(k.ConfirmUntil)},
		{"status", present(k.Status)},
		{"superseded_by", present(k.SupersededBy)},
		{"held", k.Held},
		{"relations", related(k.Relations)},
	}
}

func present[T ~string](word T) any {
	if word == "" {
		return nil
	}
	return string(word)
}

func several[S ~[]E, E any](values S) any {
	if len(values) == 0 {
		return nil
	}
	return values
}

// related are the items that it has to do with, each with the reason that was given.
func related(relations []Relation) any {
	if len(relations) == 0 {
		return nil
	}
	reasons := make(map[string]string, len(relations))
	for _, r := range relations {
		reasons[r.To] = r.Reason
	}
	return reasons
}

func labels(tags Tags) any {
	if len(tags) == 0 {
		return nil
	}
	return tags
}

func visibility(k *Knowledge) any {
	if !k.Exists() {
		return nil
	}
	return string(k.Visibility())
}

func timeValue(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// differences are the fields whose values changed.
func differences(before, after []field) []Change {
	var changes []Change
	for i, now := range after {
		if was := before[i]; !reflect.DeepEqual(was.value, now.value) {
			changes = append(changes, Change{Field: now.name, Before: was.value, After: now.value})
		}
	}
	return changes
}
