package domain

import "time"

// Quarantine asks to withhold the item from its readers, for a containment. It changes nothing if the item was erased
// or is quarantined already.
type Quarantine struct {
	Target
	Containment string // its id
	Reason      string
}

func (c Quarantine) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.containable(dc)
	if err != nil || k.Status == IsErased || k.Status == IsQuarantined {
		return nil, err
	}
	return []Fact{ItemQuarantined{Containment: c.Containment, Was: k.Status, Reason: c.Reason}}, nil
}

// containable finds the item if the caller may see and contain it.
func (t Target) containable(dc DecisionContext) (*Knowledge, error) {
	k := dc.Knowledge(t.ID)
	switch {
	case !t.By.MaySee(k):
		return nil, NotFound(t.ID)
	case !t.By.MayContain(k):
		return nil, mayNotContain(k)
	}
	return k, nil
}

// MayContain tells whether p may quarantine and readmit k: admins, and maintainers of a group that it is meant for. Its
// owner may not, since the owner may be the attacker.
func (p Principal) MayContain(k *Knowledge) bool {
	return p.IsTenantAdmin() || p.Role != Auditor && p.maintainsScopeOf(k)
}

func mayNotContain(k *Knowledge) *Refusal {
	return Refuse(ErrForbidden, "%s may be quarantined and released by admins, and maintainers of its groups", k.ID).
		WithFix("ask an admin, or a maintainer of a group that it is meant for")
}

// Readmit asks to end the quarantine of the item. If the item is not quarantined, or for another containment, it
// changes nothing, or refuses that if it is Named by the caller.
type Readmit struct {
	Target
	Containment string
	Named       bool
	// Quarantined is the fact that withheld it, if that is the event of this Version of its stream. Otherwise the
	// decision looks it up.
	Quarantined ItemQuarantined
	Version     int64
	URI         string // of the item; looked up with the whole batch, and by the decision if it is another by then
	Reason      string
}

// Reads implements [Command].
func (c Readmit) Reads() Reads {
	if c.URI == "" {
		return Reads{}
	}
	return Reads{URIs: []string{c.URI}}
}

// Validate names every bad field at once.
func (c Readmit) Validate() error {
	var p Problems
	checkID(&p, "items", c.ID)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

// Decide implements [Command]. If another item has the URI by now, the item gets one beside it.
func (c Readmit) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.containable(dc)
	if err != nil {
		return nil, err
	}
	was := c.Quarantined
	if k.Status == IsQuarantined && k.Version != c.Version {
		was, _ = dc.NewestFact(c.Stream(), was.Name(), "").(ItemQuarantined)
	}
	switch held := k.Status == IsQuarantined && was.Containment == c.Containment; {
	case !held && c.Named:
		return nil, Refuse(ErrConflict, "the containment does not hold %s", c.ID).
			WithFix("annals contain show lists what it holds; nothing was released")
	case !held:
		return nil, nil
	}
	facts := []Fact{Readmitted{Containment: was.Containment, Status: was.Was, Reason: c.Reason}}
	if was.Was == IsDeleted || was.Was == IsProposed {
		return facts, nil
	}
	return inPlace(dc, k, facts), nil
}

// inPlace are facts that let answers contain an item, after a move if another item has its URI by now.
func inPlace(dc DecisionContext, k *Knowledge, facts []Fact) []Fact {
	if holder := dc.Holder(k.Text.URI); holder == "" || holder == k.ID {
		return facts
	}
	return append([]Fact{Moved{URI: freeURIBeside(dc, k.Text.URI)}}, facts...)
}

func (c Quarantine) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c Readmit) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

var (
	_ TextCommand = Quarantine{}
	_ TextCommand = Readmit{}
)
