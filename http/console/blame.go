package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/api"
)

// run is a part of a text that one event wrote.
type run struct {
	Text  string
	Event *api.Event
}

// blame finds which event wrote each part of an item's content. The events are the item's history, oldest first, with
// diffs. The texts of the runs make up the content after the last event.
func blame(history []api.Event) []run {
	var runs []run
	for i := range history {
		for _, change := range history[i].Changes {
			if change.Field == "content" {
				runs = rewritten(runs, change, &history[i])
			}
		}
	}
	return runs
}

// rewritten are the runs of a text after a change. Words that the change kept stay with the event that wrote them.
func rewritten(runs []run, change api.Change, by *api.Event) []run {
	var written []run
	rest := runs
	for _, edit := range change.Diff {
		var kept []run
		switch edit.Op {
		case "added":
			kept = []run{{edit.Text, by}}
		case "same":
			kept, rest = split(rest, len(edit.Text))
		default:
			_, rest = split(rest, len(edit.Text))
		}
		for _, one := range kept {
			if last := len(written) - 1; last >= 0 && written[last].Event == one.Event {
				written[last].Text += one.Text
				continue
			}
			written = append(written, one)
		}
	}
	if after, _ := change.After.(string); textOf(written) != after { // the history does not begin with the first event
		return []run{{after, by}}
	}
	return written
}

// split cuts runs after some bytes.
func split(runs []run, size int) (head, tail []run) {
	for i, one := range runs {
		switch {
		case size == 0:
			return head, runs[i:]
		case size < len(one.Text):
			head = append(head, run{one.Text[:size], one.Event})
			return head, append([]run{{one.Text[size:], one.Event}}, runs[i+1:]...)
		}
		head = append(head, one)
		size -= len(one.Text)
	}
	return head, nil
}

func textOf(runs []run) string {
	var text strings.Builder
	for _, one := range runs {
		text.WriteString(one.Text)
	}
	return text.String()
}

// writer is an event that wrote a part of a text, and its age from 0, the oldest, to 4, the newest.
type writer struct {
	*api.Event
	Age int
}

// oldestAge and newestAge are the ends of the scale of colours.
const (
	oldestAge = 0
	newestAge = 4
)

// writersOf are the events behind runs, oldest first.
func writersOf(runs []run) []writer {
	var writers []writer
	seen := map[*api.Event]bool{}
	for _, one := range runs {
		if !seen[one.Event] {
			seen[one.Event] = true
			writers = append(writers, writer{Event: one.Event})
		}
	}
	slices.SortFunc(writers, func(a, b writer) int { return cmp.Compare(a.Position, b.Position) })
	for i := range writers {
		if last := len(writers) - 1; last > 0 {
			writers[i].Age = oldestAge + i*(newestAge-oldestAge)/last
		}
	}
	return writers
}

// blamed is a run of the content with its age.
type blamed struct {
	run
	Age int
}

func (d *item) blame(history []api.Event) {
	runs := blame(history)
	d.Writers = writersOf(runs)
	ages := map[*api.Event]int{}
	for _, one := range d.Writers {
		ages[one.Event] = one.Age
	}
	for _, one := range runs {
		d.Runs = append(d.Runs, blamed{one, ages[one.Event]})
	}
}
