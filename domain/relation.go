package domain

import (
	"slices"
	"time"
)

// Relation is another item that an item is said to have to do with. It names the item and not its place, so that it
// follows where that moves.
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

// unlink leaves the list alone that others may hold.
func (k *Knowledge) unlink(to string) {
	k.Relations = slices.DeleteFunc(slices.Clone(k.Relations), func(r Relation) bool { return r.To == to })
}

// mostRelations is how many an item has: they are read and written with it.
const mostRelations = 64

// Link asks to note that the item has to do with others. The caller must be allowed to change it; the others need only
// be visible. The same again changes nothing, another reason replaces the one before.
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

// How one thing is related to another.
const (
	DerivedFrom  = "derived_from"  // it was made from the other
	Derives      = "derives"       // the other was made from it
	SupersededBy = "superseded_by" // the other took its place
	Supersedes   = "supersedes"    // it took the other's place
	ArchiveOf    = "archive_of"    // it says what was said in the other, a session, and goes with it
)

// LineageRelation is something that an item goes back to, or that goes back to it.
type LineageRelation struct {
	ID       string // of an item; empty for another thing
	Stream   string
	Relation string // to Of, one of the words above
	Of       string // the other: the id of the item through which it is related
}

// ErasureStatus tells what was erased of a tenant, and whether the files still hold it.
type ErasureStatus struct {
	Erasures int64
	Texts    int64 // that were destroyed
	Unpurged int64 // since the last complete purge; of every tenant, for operators
	Oldest   time.Time
	Last     *Purge   // nil if there was none
	Kept     []string // what else may hold it, and for how long
}

// Purge is a rewriting of the database's files, after which they hold nothing of what was erased.
type Purge struct {
	BeganAt  time.Time
	EndedAt  time.Time
	Complete bool
	Notes    []string // what was rewritten, or why not
	ForOwner string   // the command by which the owner of what was left rewrites it; empty if the server may itself
}

// MaxCauses is how far back the causes of an event are followed.
const MaxCauses = 16

// Cause is a step of the way back to what an event began with.
type Cause struct {
	ID    string // of an event, or a word of the caller's own such as "file:knowledge.ndjson:7"
	Event *Event // nil if it is none of this log, or one that the caller may not see
}

// CausesOf follows an event's causes back, the nearest first. known are events by id, as a look-up of
// its causation id and of theirs found them. The last one is the root, unless there are more than
// [MaxCauses]; a circle ends where it began.
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
