package domain

import "time"

// DefaultErasureReason is the reason code of an erasure whose author gave none.
const DefaultErasureReason = "requested"

// ErasureReason is why something is erased. All of it stays in the log for ever.
type ErasureReason struct {
	ReasonCode  string // a word; [DefaultErasureReason] if nobody says
	LegalBasis  string // such as "Art. 17(1)(b) GDPR"; may be empty
	RequestedBy string // a pseudonym; may be empty
	Ticket      string // may be empty
}

// maxErasureReason is how many characters a legal basis, or the name of who requested it, has at most.
const maxErasureReason = 200

// Complete fills in the default reason, and names every bad field at once.
func (g ErasureReason) Complete() (ErasureReason, error) {
	var p Problems
	g = g.complete(&p)
	return g, p.Err()
}

func (g ErasureReason) complete(p *Problems) ErasureReason {
	if g.ReasonCode == "" {
		g.ReasonCode = DefaultErasureReason
	}
	checkReasonCode(p, g.ReasonCode)
	checkTicket(p, g.Ticket)
	atMost(p, "legal_basis", g.LegalBasis, maxErasureReason)
	atMost(p, "requested_by", g.RequestedBy, maxErasureReason)
	return g
}

// rewritten scrubs what is a text. A code that would have to be is refused.
func (g ErasureReason) rewritten(r TextRewriter) ErasureReason {
	r.all(&g.LegalBasis)
	r.Name("requested_by", g.RequestedBy)
	r.Name("reason_code", g.ReasonCode)
	r.Name("ticket", g.Ticket)
	return g
}

// Erase asks to destroy what people wrote about an item, for good: for the owner in person, or an admin.
// What was forgotten or superseded can be erased, too. What was erased stays so, and nothing is recorded
// again.
type Erase struct {
	Target
	ErasureReason

	Together []string // ids of items that are to be erased, too: if one is under legal hold, this one stays as well
}

// Reads implements [Command].
func (c Erase) Reads() Reads {
	reads := c.Target.Reads()
	reads.Items = append(reads.Items, c.Together...)
	return reads
}

// Complete fills in defaults, and names every bad field at once.
func (c Erase) Complete() (Erase, error) {
	reason, err := c.ErasureReason.Complete()
	c.ErasureReason = reason
	return c, err
}

// Decide implements [Command].
func (c Erase) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k := dc.Knowledge(c.ID)
	switch {
	case !c.By.MaySee(k):
		return nil, NotFound(c.ID)
	case !c.By.MayErase(k):
		return nil, notYoursToErase(k)
	case k.Status == IsErased:
		return nil, nil
	case k.Held:
		return nil, onHold(dc, k)
	}
	for _, id := range c.Together {
		if other := dc.Knowledge(id); other.Held {
			return nil, onHold(dc, other)
		}
	}
	if err := c.expected(k); err != nil {
		return nil, err
	}
	return []Fact{Erased{
		ReasonCode: c.ReasonCode, LegalBasis: c.LegalBasis, RequestedBy: c.RequestedBy, Ticket: c.Ticket,
		Events: idsOf(dc.TextsOf(c.Stream())),
	}}, nil
}

func notYoursToErase(k *Knowledge) *Refusal {
	refused := Refuse(ErrForbidden, "%s may be erased by %s", k.ID, erasers(k.Owner))
	if !k.Owner.isSomebody() {
		return refused.WithFix("ask an admin")
	}
	return refused.WithFix("ask its owner or an admin")
}

// erasers are who may erase what is e's. Nobody is a team, or a project, in person.
func erasers(e Entity) string {
	if !e.isSomebody() {
		return "an admin"
	}
	return string(e) + " in person, or by an admin"
}

func (e Entity) isSomebody() bool { return e.Kind() == User || e.Kind() == Agent }

// MayErase tells whether p may destroy k: its owner, or an admin, each in person; nobody who merely belongs to
// whom it belongs, or acts for somebody.
func (p Principal) MayErase(k *Knowledge) bool {
	return p.Role != Auditor && (p.isSelf(k.Owner) || p.IsTenantAdmin())
}

// isSelf tells whether p is e, and acts for nobody else.
func (p Principal) isSelf(e Entity) bool {
	return p.Subject == e && (p.OnBehalfOf == "" || p.OnBehalfOf == e)
}

var _ Command = Erase{}
