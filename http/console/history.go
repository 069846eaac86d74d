package console

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
)

// The history of an item is read in at most maxHistoryPages requests, so that each page asks a bounded number.
const maxHistoryPages = 2

// readHistory reads the events of an item, oldest first, from a cursor on. Next continues after the last one; it is
// empty at the end.
func readHistory(p *page, id, cursor string) (history []api.Event, next string, err error) {
	query := url.Values{"diff": {"true"}, "limit": {"500"}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return pagesOf[api.Event](p, maxHistoryPages, query, "v1", "knowledge", id, "history")
}

// byThen leaves out what happened after the moment of the page.
func byThen(p *page, history []api.Event, next string) (then []api.Event, after string) {
	later := func(e api.Event) bool { return p.Moment.Past() && e.Position > p.Moment.Position }
	if i := slices.IndexFunc(history, later); i >= 0 {
		return history[:i], ""
	}
	return history, next
}

// pageOf reads a page of a list. Next is the cursor of what follows it; empty for nothing.
func pageOf[T any](p *page, query url.Values, path ...string) (items []T, next string, err error) {
	var got api.Page[T]
	err = p.get(&got, query, path...)
	return got.Items, got.NextCursor, err
}

// pagesOf reads so many pages of a list.
func pagesOf[T any](p *page, pages int, query url.Values, path ...string) (all []T, next string, err error) {
	for range pages {
		var items []T
		if items, next, err = pageOf[T](p, query, path...); err != nil {
			return nil, "", err
		}
		all = append(all, items...)
		if next == "" {
			break
		}
		query.Set("cursor", next)
	}
	return all, next, nil
}

// step is an entry of a history: an event, or several votes in a row.
type step struct {
	api.Event
	Votes []step // those that the entry stands for
	Began bool   // the event began the item
}

// timeline makes the entries of a history, which is oldest first.
func timeline(history []api.Event, newestFirst bool) []step {
	var steps []step
	for i, event := range history {
		one := step{Event: event, Began: event.Version == 1}
		if i == 0 || !isVote(event.Name) || !isVote(history[i-1].Name) {
			steps = append(steps, one)
			continue
		}
		last := &steps[len(steps)-1]
		if last.Votes == nil {
			last.Votes = []step{*last}
		}
		last.Event, last.Votes = event, append(last.Votes, one)
	}
	if newestFirst {
		slices.Reverse(steps)
		for _, one := range steps {
			slices.Reverse(one.Votes)
		}
	}
	return steps
}

func isVote(name string) bool {
	return name == "knowledge.found_helpful" || name == "knowledge.found_harmful" || name == "knowledge.feedback_retracted"
}

// Count is how many of the votes have a name.
func (s step) Count(name string) (n int) {
	for _, vote := range s.Votes {
		if vote.Name == name {
			n++
		}
	}
	return n
}

// What says in words what happened.
func (s step) What() string { return happened(s.Name) }

// happened is an event's name in words, such as "found helpful".
func happened(name string) string {
	_, word, _ := strings.Cut(name, ".")
	word = statusName(word)
	return strings.ReplaceAll(word, "_", " ")
}

// eventOf is an event's name in words, where other things than knowledge have events, too.
func eventOf(language, name string) string {
	if translated := say(language, name); translated != name {
		return translated
	}
	if name == "knowledge.deleted" {
		return "forgot" // after who did it
	}
	if strings.HasPrefix(name, "knowledge.") {
		return happened(name)
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(name)
}

// Told is what the actor said besides the reason: for what a vote's item was used, and what came of it.
func (s step) Told() (told struct{ Query, Outcome string }) {
	if !isVote(s.Name) || json.Unmarshal(s.Text, &told) != nil {
		told.Query, told.Outcome = "", ""
	}
	return told
}

// Others are the ids of the other items of a merge, or of its end, and how many the reader may not see.
func (s step) Others() (others struct {
	Items  []string
	Hidden int `json:"hidden_items"`
},
) {
	if s.Name == "knowledge.merged" || s.Name == "knowledge.unmerged" {
		_ = json.Unmarshal(s.Data, &others) // the server wrote it
	}
	return others
}

// Edits are the changes that the entry does not tell by itself, as votes and reports do. What began the item changed
// nothing word by word.
func (s step) Edits() []edit {
	return slices.DeleteFunc(editsOf(s.Changes, s.Began), func(e edit) bool {
		return strings.ContainsRune(e.Field, '.') || strings.HasPrefix(e.Field, "confirm") || e.Field == "status"
	})
}

// edit is a changed field: the parts that were kept, removed and added, or its value if there was nothing before.
type edit struct {
	Field string
	Value string
	Diff  []api.FieldChange
}

// diffOf compares two texts word by word.
func diffOf(before, after string) (diff []api.FieldChange) {
	for _, part := range text.Diff(before, after) {
		diff = append(diff, api.FieldChange{Op: string(part.Op), Text: part.Text})
	}
	return diff
}

// longFields are the fields that people write as text.
var longFields = []string{"content", "abstract", "overview", "meta"}

// Long tells whether the values take lines of their own.
func (e edit) Long() bool { return slices.Contains(longFields, e.Field) }

// editLabels are the fields that people read, by their names. The event has the others, too.
func editLabels() map[string]string {
	return map[string]string{
		"task": "Task", "content": "Content", "abstract": "Abstract", "overview": "Overview", "type": "Type",
		"polarity": "Polarity", "tags": "Tags", "scopes": "Who may see it", "owner": "Owner", "status": "Status",
		"superseded_by": "Superseded by", "meta": "Meta", "occurred_at": "True since", "confirmed_at": "confirmed",
		"confirm_until": "Holds until", "eval.helpful": "Found helpful", "eval.harmful": "Found harmful",
		"stale.reporters": "Reported stale", "stale.reason": "Why",
	}
}

// Label is the word for the field.
func (e edit) Label() string { return editLabels()[e.Field] }

func editsOf(changes []api.Change, began bool) []edit {
	var edits []edit
	for _, change := range changes {
		one := edit{Field: change.Field}
		before, after := shownParts(change.Field, change.Before), shownParts(change.Field, change.After)
		switch {
		case one.Label() == "", began && !slices.Contains(append(longFields, "task", "tags"), change.Field):
			continue
		case began:
			one.Value = strings.Join(after, ", ")
		case slices.Contains(markedFields, change.Field):
			for _, part := range before {
				if !slices.Contains(after, part) {
					one.Diff = append(one.Diff, api.FieldChange{Op: string(text.Removed), Text: part})
				}
			}
			for _, part := range after {
				if !slices.Contains(before, part) {
					one.Diff = append(one.Diff, api.FieldChange{Op: string(text.Added), Text: part})
				}
			}
		case len(change.Diff) > 0:
			one.Diff = change.Diff
		default:
			one.Diff = diffOf(strings.Join(before, ", "), strings.Join(after, ", "))
		}
		edits = append(edits, one)
	}
	return edits
}

// markedFields have names in the place of their values, which are compared as wholes.
var markedFields = []string{"owner", "scopes", "status", "superseded_by"}

// shownParts are the parts of a field's value as pages show them.
func shownParts(field string, value any) []string {
	parts := partsOf(value)
	for i, part := range parts {
		switch field {
		case "owner", "scopes":
			parts[i] = string(who(part))
		case "status":
			parts[i] = string(who(statusName(part)))
		case "superseded_by":
			parts[i] = string(titled(part))
		}
	}
	return parts
}

// partsOf are the parts of a field's value: the elements of a list, the members of an object, or the value itself.
func partsOf(value any) []string {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		var parts []string
		for _, one := range value {
			parts = append(parts, partsOf(one)...)
		}
		return parts
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if value[key] == nil || value[key] == "" {
				parts = append(parts, strings.TrimSuffix(key+": "+plain(value[key]), `: ""`))
				continue
			}
			for _, part := range partsOf(value[key]) {
				parts = append(parts, key+": "+part)
			}
		}
		return parts
	}
	return []string{plain(value)}
}

// plain writes a value that has no parts. A time has the form that pages show.
func plain(value any) string {
	if written, isText := value.(string); isText && written != "" {
		if at, err := time.Parse(time.RFC3339Nano, written); err == nil {
			return at.UTC().Format(exactTime)
		}
		return written
	}
	written, err := json.Marshal(value)
	if err != nil { // it was read from JSON
		return ""
	}
	return string(written)
}
