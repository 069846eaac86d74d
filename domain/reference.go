package domain

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Referrer names other items and events: to which it is related, what it was made from, what took its place. A reader
// that may not see one of them learns neither its name nor the reason.
type Referrer interface {
	// HideReferences takes out the references that are not in sight, with their reasons. It changes nothing that others
	// share.
	HideReferences(sight Sight)
}

// Sight tells, by their ids, which items and events a reader may see. Origin is for what a caller says of an origin:
// it is false only for the id of something that is hidden.
type Sight struct {
	Item, Event, Origin func(id string) bool
}

// kept are the elements that are to be kept, as a list of their own.
func kept[T any](list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !keep(one) })
}

// HideReferences implements [Referrer].
func (k *Knowledge) HideReferences(sight Sight) {
	if k.SupersededBy != "" && !sight.Item(k.SupersededBy) {
		k.SupersededBy = ""
	}
	k.Relations = kept(k.Relations, func(r Relation) bool { return sight.Item(r.To) })
	k.DerivedFrom = kept(k.DerivedFrom, sight.Event)
	if len(k.Votes) > 0 { // a merge carried some
		k.Votes = maps.Clone(k.Votes)
		maps.DeleteFunc(k.Votes, func(id string, _ Vote) bool { return !sight.Event(id) })
	}
}

// HideReferences implements [Referrer]. The items of a merge that are hidden are counted. The hash stays that of the
// recorded data.
func (e *Event) HideReferences(sight Sight) {
	for _, id := range []*string{&e.CausationID, &e.CorrelationID} {
		if *id != "" && !sight.Origin(*id) {
			*id = ""
		}
	}
	fact := e.Fact
	switch f := fact.(type) {
	case Remembered:
		if len(f.DerivedFrom) == 0 {
			return
		}
	case Merged:
		f.Reason = ""
		fact = f
	case Unmerged:
		f.Reason = ""
		fact = f
	case Superseded:
		f.Reason = ""
		fact = f
	case Linked:
		f.Reason = ""
		fact = f
	case Unlinked:
	default:
		return
	}
	var data, text map[string]json.RawMessage
	if json.Unmarshal(e.Data, &data) != nil {
		return
	}
	hidden := hideIn(data, "items", sight.Item)
	if hidden > 0 {
		data["hidden_items"], _ = json.Marshal(hidden)
	}
	hidden += hideIn(data, "derived_from", sight.Event)
	if _, undone := fact.(Unmerged); undone {
		hidden += hideIn(data, "votes", sight.Event)
	} else {
		hidden += hideIn(data, "votes", func(v struct{ Vote, Ballot string }) bool {
			// the ballot names the items that carried the vote before
			from := strings.Split(v.Ballot, " of ")[1:]
			return sight.Event(v.Vote) && !slices.ContainsFunc(from, func(id string) bool { return !sight.Item(id) })
		})
	}
	for _, field := range []string{"by", "to"} {
		if id := ""; json.Unmarshal(data[field], &id) == nil && !sight.Item(id) {
			delete(data, field)
			hidden++
		}
	}
	if hidden == 0 {
		return
	}
	e.Data, _ = json.Marshal(data)
	e.Fact = fact
	if _, remembered := fact.(Remembered); !remembered && json.Unmarshal(e.Text, &text) == nil {
		delete(text, "reason")
		if e.Text = nil; len(text) > 0 {
			e.Text, _ = json.Marshal(text)
		}
	}
}

// hideIn keeps some elements of a list in recorded data, and counts the others.
func hideIn[T any](data map[string]json.RawMessage, field string, keep func(T) bool) (hidden int) {
	left := []json.RawMessage{}
	var all []json.RawMessage
	_ = json.Unmarshal(data[field], &all) // there is none
	for _, raw := range all {
		var one T
		if json.Unmarshal(raw, &one) == nil && keep(one) {
			left = append(left, raw)
		}
	}
	if hidden = len(all) - len(left); hidden > 0 {
		data[field], _ = json.Marshal(left)
	}
	return hidden
}

// HideReferences implements [Referrer].
func (i *HistoryItem) HideReferences(sight Sight) {
	i.Event.HideReferences(sight)
	i.Changes = withoutReferences(i.Changes, sight)
}

// HideReferences implements [Referrer].
func (c *Comparison) HideReferences(sight Sight) { c.Changes = withoutReferences(c.Changes, sight) }

// withoutReferences are changes without the references that are not in sight; those that say nothing else are left out.
func withoutReferences(changes []Change, sight Sight) []Change {
	hide := func(value any) any {
		switch value := value.(type) {
		case string:
			if !sight.Item(value) {
				return nil
			}
		case map[string]string:
			left := maps.Clone(value)
			maps.DeleteFunc(left, func(id, _ string) bool { return !sight.Item(id) })
			return filled(len(left), left)
		}
		return value
	}
	changes = slices.Clone(changes)
	for i, c := range changes {
		if c.Field == "superseded_by" || c.Field == "relations" {
			changes[i].Before, changes[i].After = hide(c.Before), hide(c.After)
		}
	}
	return kept(changes, func(c Change) bool {
		return len(differences([]field{{c.Field, c.Before}}, []field{{c.Field, c.After}})) > 0
	})
}

// superseded says in words that an item is superseded. It names the successor only to those who see everything.
func (p Principal) superseded(k *Knowledge) string {
	if p.SeesAll() {
		return "superseded by " + k.SupersededBy
	}
	return string(IsSuperseded)
}
