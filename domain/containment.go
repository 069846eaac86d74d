package domain

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
)

// Containment is a group of items that were quarantined together: the state of its stream.
type Containment struct {
	By       Entity    `json:"by"`
	At       time.Time `json:"at"`
	Position int64     `json:"position"` // of the event after which those of its items come
	Items    int       `json:"items"`
	Votes    int       `json:"votes,omitempty"`
	Revived  int       `json:"revived,omitempty"`
	UndoneBy Entity    `json:"undone_by,omitempty"`
	UndoneAt time.Time `json:"undone_at,omitzero"`
}

// ContainmentStreams are the streams of containments.
var ContainmentStreams = StreamKind{
	Name: "containment", State: Containment{}, Form: 1, KeepsRights: true,
	Facts: []Fact{ContainmentApplied{}, ContainmentUndone{}},
}

func (c Containment) Evolve(fact Fact, at EventMetadata) (State, error) {
	by := cmp.Or(at.OnBehalfOf, at.Actor)
	switch f := fact.(type) {
	case ContainmentApplied:
		if at.Version == 1 {
			return Containment{
				By: by, At: at.RecordedAt, Position: at.Position, Items: f.Items, Votes: f.Votes, Revived: f.Revived,
			}, nil
		}
	case ContainmentUndone:
		if at.Version > 1 && c.UndoneAt.IsZero() {
			c.UndoneBy, c.UndoneAt = by, at.RecordedAt
			return c, nil
		}
	}
	return c, errors.New("a containment is applied once, and undone once")
}

// StateOwner implements [OwnedState].
func (c Containment) StateOwner() Entity { return c.By }

// CheckContains refuses a principal that may contain nothing. Admins may, and maintainers of a group.
func (p Principal) CheckContains() error {
	if p.IsTenantAdmin() || p.Role != Auditor && len(p.Maintains) > 0 {
		return nil
	}
	return Refuse(ErrForbidden, "%s may contain nothing: admins and maintainers of groups may", p.EffectiveSubject()).
		WithFix("ask an admin, or a maintainer of a group that the items are meant for")
}

// Tainting selects what a containment begins with: the items that it names, and what all of the other fields select.
type Tainting struct {
	Items   []string
	Actor   Entity
	Source  string // the name of the source, or what its URL begins with
	Session string // OWNER/ID, or the trace of the items
	Since   time.Time
}

// maxNamed limits the items that a containment names.
const maxNamed = 100

// Selects tells whether it selects more than the items that it names.
func (t Tainting) Selects() bool { return t.Actor != "" || t.Source != "" || t.Session != "" }

// Validate names every bad field at once.
func (t Tainting) Validate() error {
	var p Problems
	if len(t.Items) > 0 {
		checkItems(&p, t.Items, 1, maxNamed)
	}
	if t.Actor != "" {
		checkEntity(&p, "actor", t.Actor)
	}
	atMost(&p, "source", t.Source, maxName)
	atMost(&p, "session", t.Session, maxName)
	if t.Session != "" && (strings.TrimSpace(t.Session) == "" || strings.HasSuffix(t.Session, "/")) {
		p.Add("session", "must be the id of a session, with or without its owner before it")
	}
	if len(t.Items) == 0 && !t.Selects() {
		p.Add("items", "name items, or what wrote them: an actor, a source or a session")
	}
	return p.Err()
}

// Contain asks to record a containment. Submit it with a [Quarantine] for each item.
type Contain struct {
	By      Principal
	ID      string
	Items   []string
	Applied ContainmentApplied
}

// Validate names every bad field at once.
func (c Contain) Validate() error {
	var p Problems
	if strings.TrimSpace(c.Applied.Reason) == "" {
		p.Add("reason", "is missing: stewards and auditors read it")
	}
	atMost(&p, "reason", c.Applied.Reason, maxReason)
	return p.Err()
}

func (c Contain) Stream() string { return ContainmentStreams.Of(c.ID) }

func (c Contain) Reads() Reads { return Reads{Items: c.Items} }

// Decide implements [Command]. It refuses if another containment was faster, so that of several one wins.
func (c Contain) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.By.CheckContains(); err != nil {
		return nil, err
	}
	for _, id := range c.Items {
		if status := dc.Knowledge(id).Status; status == IsQuarantined || status == IsErased {
			return nil, Refuse(ErrConflict, "%s is %s by now", id, status).WithFix("look again what is affected")
		}
	}
	return []Fact{c.Applied}, nil
}

func (c Contain) RewriteText(r TextRewriter) Command {
	r.all(&c.Applied.Reason)
	r.Name("source", c.Applied.Source)
	return c
}

// UndoContainment asks to record that a containment was undone. Submit it with a [Readmit] for each item.
type UndoContainment struct {
	By     Principal
	ID     string
	Reason string
}

// Validate names every bad field at once.
func (c UndoContainment) Validate() error { return checkReason(c.Reason) }

func (c UndoContainment) Stream() string { return ContainmentStreams.Of(c.ID) }

func (c UndoContainment) Reads() Reads { return Reads{} }

func (c UndoContainment) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.By.CheckContains(); err != nil {
		return nil, err
	}
	switch now := StateOf[Containment](dc, c.Stream()); {
	case now.At.IsZero():
		return nil, NoSuchContainment(c.ID)
	case !now.UndoneAt.IsZero():
		return nil, Refuse(ErrConflict, "%s was undone already", c.ID)
	}
	return []Fact{ContainmentUndone{Reason: c.Reason}}, nil
}

func (c UndoContainment) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// NoSuchContainment is the refusal for an id that no containment has.
func NoSuchContainment(id string) error { return Refuse(ErrNotFound, "no containment with id %s", id) }

// DiscountVotes asks to take votes on an item out of the count, or with Again to let them count again.
type DiscountVotes struct {
	Target
	Containment string
	Votes       []string // their event ids
	Again       bool
}

func (c DiscountVotes) Reads() Reads { return Reads{VotesOf: []string{c.ID}} }

// Decide implements [Command]. It passes over votes that are gone, and items that were erased.
func (c DiscountVotes) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k := dc.Knowledge(c.ID)
	if !c.By.MaySee(k) || !c.By.MayContain(k) {
		return nil, mayNotContain(k)
	}
	votes := slices.DeleteFunc(slices.Clone(c.Votes), func(id string) bool {
		v, found := k.Votes[id]
		return !found || v.Verdict.counts() == c.Again
	})
	switch {
	case len(votes) == 0:
		return nil, nil
	case c.Again:
		return []Fact{VotesRecounted{Containment: c.Containment, Votes: votes}}, nil
	}
	return []Fact{VotesDiscounted{Containment: c.Containment, Votes: votes}}, nil
}

// Revive asks to restore an item that a quarantined one superseded, or with Again to supersede it again.
type Revive struct {
	Target
	Successor string // the quarantined item
	Again     bool   // by the item that superseded it last
}

func (c Revive) Reads() Reads { return Reads{} }

// Decide implements [Command]. It passes over an item whose state another command changed meanwhile.
func (c Revive) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k := dc.Knowledge(c.ID)
	switch {
	case !c.By.MaySee(k) || !c.By.MayContain(k):
		return nil, mayNotContain(k)
	case !c.Again && k.Status == IsSuperseded && k.SupersededBy == c.Successor:
		return []Fact{Restored{}}, nil
	case !c.Again || k.Status != Active:
		return nil, nil
	}
	last, found := dc.NewestFact(c.Stream(), Superseded{}.Name(), "").(Superseded)
	if status := dc.Knowledge(last.By).Status; !found || status != Active && status != IsSuperseded {
		return nil, nil
	}
	return []Fact{Superseded{By: last.By, Carried: last.Carried}}, nil
}

var (
	_ TextCommand = Contain{}
	_ TextCommand = UndoContainment{}
	_ Command     = DiscountVotes{}
	_ Command     = Revive{}
)
