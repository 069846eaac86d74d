package domain

import (
	"slices"
	"time"
)

// Relation is another item that an item is said to have to do with. It names the item and not its place, so that it
// follows where that moves.
type Relation struct {
	To     string // the other item's id
	Reason string // why, as somebody wrote it
	At     time.Time
}

func (k *Knowledge) link(f Linked, at EventMetadata) {
	k.unlink(f.To)
	k.Relations = append(k.Relations, Relation{To: f.To, Reason: f.Reason, At: at.RecordedAt})
	k.Revision++
}

// unlink leaves the list alone that others may hold.
func (k *Knowledge) unlink(to string) {
	k.Relations = slices.DeleteFunc(slices.Clone(k.Relations), func(r Relation) bool { return r.To == to })
}

// mostRelations is how many an item has: they are read and written with it.
const mostRelations = 64

// Link asks to note that the item has to do with others. Whoever may change it may say so; the others need only be
// visible. The same again changes nothing, another reason replaces the one before.
type Link struct {
	Target
	To     []string // ids of other items
	Reason string
}

// Validate names every bad field at once.
func (c Link) Validate() error {
	var p Problems
	if len(c.To) == 0 || len(c.To) > mostRelations {
		p.Add("to", "must name 1 to %d items", mostRelations)
	}
	for _, id := range c.To {
		checkID(&p, "to", id)
		if id == c.ID {
			p.Add("to", "must be another item")
		}
	}
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

// Reads implements [Command].
func (c Link) Reads() Reads { return Reads{Items: c.To} }

// Decide implements [Command].
func (c Link) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.changeable(dc)
	if err != nil {
		return nil, err
	}
	var p Problems
	var facts []Fact
	more := len(k.Relations)
	for i, id := range c.To {
		if missing := c.By.missing(dc.Knowledge(id)); missing != "" {
			p.Miss("to", missing)
			continue
		}
		known, linked := k.relation(id)
		if linked && known.Reason == c.Reason || slices.Contains(c.To[:i], id) {
			continue
		}
		if !linked {
			more++
		}
		facts = append(facts, Linked{To: id, Reason: c.Reason})
	}
	if more > mostRelations {
		p.Add("to", "an item has at most %d relations", mostRelations)
	}
	return facts, p.Err()
}

// relation finds the one to another item.
func (k *Knowledge) relation(to string) (Relation, bool) {
	for _, r := range k.Relations {
		if r.To == to {
			return r, true
		}
	}
	return Relation{}, false
}

// Unlink asks to take a relation back. One that is not there is as good as taken back.
type Unlink struct {
	Target
	To string // the other item's id
}

// Validate names every bad field at once.
func (c Unlink) Validate() error {
	var p Problems
	checkID(&p, "to", c.To)
	return p.Err()
}

// Decide implements [Command].
func (c Unlink) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.changeable(dc)
	if err != nil {
		return nil, err
	}
	if _, linked := k.relation(c.To); !linked {
		return nil, nil
	}
	return []Fact{Unlinked{To: c.To}}, nil
}
