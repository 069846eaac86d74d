package domain

import (
	"slices"
	"time"
)

// Relation is another item to which an item is related. It holds the id instead of the URI, so it stays valid if that
// item moves.
type Relation struct {
	To     string // the other item's id
	Reason string // why, in the author's words
	At     time.Time
}

func (k *Knowledge) link(f Linked, at EventMetadata) {
	k.unlink(f.To)
	k.Relations = append(k.Relations, Relation{To: f.To, Reason: f.Reason, At: at.RecordedAt})
	k.Revision++
}

// unlink copies the list, since other states may share it.
func (k *Knowledge) unlink(to string) {
	k.Relations = slices.DeleteFunc(slices.Clone(k.Relations), func(r Relation) bool { return r.To == to })
}

// mostRelations limits the relations of an item: they are read and written with it.
const mostRelations = 64

// Link asks to relate the item to others. The caller must be allowed to change it and to see the others. An identical
// relation changes nothing; another reason replaces the earlier one.
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

func (c Link) Reads() Reads { return Reads{Items: c.To} }

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

// relation finds the relation to another item.
func (k *Knowledge) relation(to string) (Relation, bool) {
	for _, r := range k.Relations {
		if r.To == to {
			return r, true
		}
	}
	return Relation{}, false
}

// Unlink asks to remove a relation. Nothing happens if there is none.
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

// The relations, from the first thing's point of view.
const (
	DerivedFrom  = "derived_from"  // it was made from the other
	Derives      = "derives"       // the other was made from it
	SupersededBy = "superseded_by" // the other took its place
	Supersedes   = "supersedes"    // it took the other's place
	ArchiveOf    = "archive_of"    // it is an archive of the other, a session, and is erased with it
)

// LineageRelation is something that an item was made from, or that was made from an item.
type LineageRelation struct {
	ID       string // of an item; empty for another thing
	Stream   string
	Relation string // to Of, one of the constants above
	Of       string // the id of the item to which it is related
}

// ErasureStatus says what was erased of a tenant, and whether the database files still contain it.
type ErasureStatus struct {
	Erasures int64
	Texts    int64 // erased texts
	Unpurged int64 // erased since the last complete purge, in every tenant; for operators
	Oldest   time.Time
	ForOwner string   // the command by which the owner of the tables purges what the server may not; empty if it may
	Last     *Purge   // nil if there was none
	Kept     []string // other places that may hold erased texts, and for how long
}

// Purge is a rewrite of the database files, after which they contain no erased text.
type Purge struct {
	BeganAt  time.Time
	EndedAt  time.Time
	Complete bool
	Notes    []string // what was rewritten, or why it was not
	ForOwner string   // the command by which the owner of the remaining tables rewrites them; empty if not needed
}

// MaxCauses limits the causes of an event that are followed.
const MaxCauses = 16

// Cause is one step from an event back to its root cause.
type Cause struct {
	ID    string // of an event, or chosen by the caller, such as "file:knowledge.ndjson:7"
	Event *Event // nil if the event is not in this log, or the caller may not see it
}

// CausesOf follows an event's causes back, the nearest first. known are the events of the chain by id. The last cause
// is the root, unless there are more than [MaxCauses]. A cycle ends where it began.
func CausesOf(event Event, known map[string]Event) []Cause {
	var causes []Cause
	seen := map[string]bool{event.EventID: true}
	for id := event.CausationID; id != "" && !seen[id] && len(causes) < MaxCauses; {
		seen[id] = true
		cause, found := known[id]
		if !found {
			return append(causes, Cause{ID: id})
		}
		causes = append(causes, Cause{ID: id, Event: &cause})
		id = cause.CausationID
	}
	return causes
}
