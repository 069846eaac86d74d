package domain

import (
	"slices"
	"time"
)

// Revise asks to change the text, audience, owner or URI of an item. Empty Scopes, Owner and URI mean no change.
// Every resulting fact has the reason. Call [Revise.Validate] first.
type Revise struct {
	Target
	Changes    Revised
	Scopes     []Scope
	Owner      Entity
	URI        string
	Reason     string     // why, in the caller's words
	Visibility Visibility // as claimed for the result; empty to derive
	MayBeEmpty bool       // the content
	Confirm    bool       // also confirm the item
	Until      time.Time  // of the confirmation; zero for no end
	Trust      Trust      // of the changes, if they are less trusted than the caller
}

// Validate names every bad field at once.
func (c Revise) Validate() error {
	var p Problems
	c.Changes.check(&p, c.MayBeEmpty)
	if c.Scopes != nil {
		checkScopes(&p, c.Scopes)
	}
	if c.Owner != "" {
		checkEntity(&p, "owner", c.Owner)
	}
	if c.URI != "" {
		checkURI(&p, c.URI)
	}
	oneOf(&p, "visibility", c.Visibility, visibilities, false)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

func (c Revise) Reads() Reads {
	reads := Reads{Reports: c.Confirm}
	if c.URI != "" {
		reads.URIs = []string{c.URI}
	}
	return reads
}

// Decide implements [Command]. It records only values that differ from the item's.
func (c Revise) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	k, err := c.changeable(dc)
	if err != nil {
		return nil, err
	}
	c.Changes = c.Changes.withoutSummary(dc, k)
	facts := c.facts(k)
	if err := c.agrees(k); err != nil {
		return nil, err
	}
	for _, fact := range facts {
		switch f := fact.(type) {
		case Revised:
			err = c.approved(dc, k, k.Scopes, c.By.Trust(), c.Trust)
		case Rescoped:
			if err = mayPublish(c.By, added(f.Scopes, k.Scopes), ""); err == nil {
				err = c.approved(dc, k, added(f.Scopes, k.Scopes), c.By.Trust(), c.Trust, k.Trust())
			}
		case Transferred:
			err = mayPublish(c.By, nil, f.Owner)
		case Moved:
			if err = mayUseURI(c.By, f.URI); err == nil && dc.Holder(f.URI) != "" {
				err = Refuse(ErrTaken, "the uri belongs to another item").WithFix("choose another uri")
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if !c.Confirm {
		return facts, nil
	}
	confirmed, err := c.confirm(dc, k, "confirm_until", Confirmed{Until: c.Until, Reason: c.Reason}, now)
	return append(facts, confirmed...), err
}

// approved refuses to say something in scopes that ask for approval of what comes from one of the classes. What is
// proposed already may change.
func (c Revise) approved(dc DecisionContext, k *Knowledge, scopes []Scope, classes ...Trust) error {
	of := k.Type
	if set(&of, c.Changes.Type); k.Status == IsProposed || len(scopes) == 0 || c.By.Trust() == "" {
		return nil
	}
	return mustApprove(dc, k, scopes, of, classes...)
}

// agrees refuses a claimed visibility that contradicts the resulting scopes.
func (c Revise) agrees(k *Knowledge) error {
	var p Problems
	scopes, owner := k.Scopes, k.Owner
	if len(c.Scopes) > 0 {
		scopes = c.Scopes
	}
	if c.Owner != "" {
		owner = c.Owner
	}
	checkVisibility(&p, c.Visibility, scopes, owner)
	return p.Err()
}

// facts are the differences between k and the request.
func (c Revise) facts(k *Knowledge) []Fact {
	var facts []Fact
	if revised, changed := c.Changes.different(k); changed {
		revised.Reason, revised.Trust = c.Reason, k.lowered(c.By.Trust(), c.Trust)
		facts = append(facts, revised)
	}
	if len(c.Scopes) > 0 && !SameScopes(c.Scopes, k.Scopes) {
		facts = append(facts, Rescoped{Scopes: c.Scopes, Reason: c.Reason})
	}
	if c.Owner != "" && c.Owner != k.Owner {
		facts = append(facts, Transferred{Owner: c.Owner, Reason: c.Reason})
	}
	if c.URI != "" && c.URI != k.Text.URI {
		facts = append(facts, Moved{URI: c.URI, Reason: c.Reason})
	}
	return facts
}

// added are the new scopes. The caller needs no right to the others: it may keep an audience that another caller
// chose.
func added(scopes, before []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s Scope) bool { return slices.Contains(before, s) })
}

// SameScopes tells whether two lists name the same scopes, in any order.
func SameScopes[S ~string](a, b []S) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
