package domain

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
