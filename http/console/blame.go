package console

import (
	"slices"

	"github.com/annals-kb/annals/http/api"
)

// run is a part of a text that one event wrote.
type run struct {
	Text  string
	Event *api.Event
}

// blame finds which event wrote each part of an item's content. The events are the item's history, oldest first, with
// diffs. The texts of the runs make up the content after the last event.
func blame(history []api.Event) (runs []run) {
	content := ""
	var writers []*api.Event // of each byte
	for i := range history {
		for _, change := range history[i].Changes {
			if change.Field == "content" {
				content, _ = change.After.(string)
				writers = rewritten(writers, change.Diff, &history[i], len(content))
			}
		}
	}
	for start, end := 0, 1; end <= len(writers); end++ {
		if end == len(writers) || writers[end] != writers[start] {
			runs = append(runs, run{content[start:end], writers[start]})
			start = end
		}
	}
	return runs
}

// rewritten are the writers of a text after an event changed it. What the event kept stays with who wrote it.
func rewritten(before []*api.Event, diff []api.FieldChange, by *api.Event, size int) (after []*api.Event) {
	rest := before
	for _, edit := range diff {
		if edit.Op == "added" {
			after = append(after, slices.Repeat([]*api.Event{by}, len(edit.Text))...)
			continue
		}
		end := min(len(edit.Text), len(rest))
		if edit.Op == "same" {
			after = append(after, rest[:end]...)
		}
		rest = rest[end:]
	}
	if len(after) != size { // the history does not begin with the first event
		return slices.Repeat([]*api.Event{by}, size)
	}
	return after
}
