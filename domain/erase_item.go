package domain

import (
	"slices"
	"time"
)

// DefaultErasureReason is the reason code of an erasure whose author gave none.
const DefaultErasureReason = "requested"

// ErasureReason says why texts are erased. All of it stays in the log for ever.
type ErasureReason struct {
	ReasonCode  string // a word; default: [DefaultErasureReason]
	LegalBasis  string // such as "Art. 17(1)(b) GDPR"; may be empty
	RequestedBy string // a pseudonym; may be empty
	Ticket      string // may be empty
}

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

// rewritten scrubs the legal basis. A secret in another field is refused, not replaced.
func (g ErasureReason) rewritten(r TextRewriter) ErasureReason {
	r.all(&g.LegalBasis)
	r.Name("requested_by", g.RequestedBy)
	r.Name("reason_code", g.ReasonCode)
	r.Name("ticket", g.Ticket)
	return g
}

// Erase asks to destroy the texts of an item for good. The owner in person and admins may do so, also for deleted and
// superseded items. Erasing an erased item records nothing.
type Erase struct {
	Target
	ErasureReason

	Together []string // ids of other items of the same erasure: if one of them is under legal hold, this one stays, too
}

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

// erasers names the principals that may erase what e owns. No principal is a team or a project in person.
func erasers(e Entity) string {
	if !e.isSomebody() {
		return "an admin"
	}
	return string(e) + " in person, or by an admin"
}

func (e Entity) isSomebody() bool { return e.Kind() == User || e.Kind() == Agent }

// MayErase tells whether p may destroy k: its owner or an admin, each in person. Members of an owning
// group, and principals that act for another one, may not.
func (p Principal) MayErase(k *Knowledge) bool {
	return p.Role != Auditor && (p.isSelf(k.Owner) || p.IsTenantAdmin())
}

// isSelf tells whether p is e and acts for itself.
func (p Principal) isSelf(e Entity) bool {
	return p.Subject == e && (p.OnBehalfOf == "" || p.OnBehalfOf == e)
}

var _ Command = Erase{}

// ErasureTarget is something that an order erases, or that is related to such a thing.
type ErasureTarget struct {
	Stream    string
	ID        string // of an item
	Owner     Entity
	Title     string  // of an item: its task, or what it says
	Scopes    []Scope // of an item
	URI       URI     // of an item
	Unnamed   URI     // of an item: where it lies by default if it has no owner
	Status    Status  // of an item
	Held      bool
	State     State  // of another thing
	Relation  string // to RelatedTo, see [LineageRelation]; empty if the order names the target itself
	RelatedTo string
	WillErase bool // the order erases it; related targets stay unless the order includes them
}

// PassesTo is the group that an item may pass to instead of its erasure with all that is of an entity: the first group
// that it is meant for. Empty if there is none.
func (d ErasureTarget) PassesTo(of string) Entity {
	if i := slices.IndexFunc(d.Scopes, func(s Scope) bool {
		return slices.Contains(GroupKinds, s.Entity().Kind())
	}); i >= 0 && d.Relation == "" && string(d.Owner) == of && d.Owner.isSomebody() &&
		Gone(&Knowledge{Standing: Standing{Status: d.Status}}) == nil {
		return d.Scopes[i].Entity()
	}
	return ""
}

// PassCommand is the command that gives the target to a group, and takes its owner out of its scopes and its URI.
func (d ErasureTarget) PassCommand(by Principal, to Entity) Command {
	revised := Revise{Target: Target{By: by, ID: d.ID}, Owner: to}
	if own := d.Owner.Scope(); slices.Contains(d.Scopes, own) {
		revised.Scopes = slices.DeleteFunc(slices.Clone(d.Scopes), func(s Scope) bool { return s == own })
	}
	if d.URI.Within(URIOfNames(d.Owner.Kind(), d.Owner.ID())) {
		revised.URI = string(d.Unnamed)
	}
	return revised
}

// EndsAccess tells whether the order ends the keys and the memberships of an entity.
func (e Erasure) EndsAccess() bool { return !e.KeepAccess && Entity(e.Of).isSomebody() }

// Retained says, by stream, why an order by a principal does not erase a target. Reasons are another owner, a legal
// hold, and an archive that stays: the archives of a session are erased before the session.
func Retained(by Principal, all []ErasureTarget) map[string]string {
	why := map[string]string{}
	for _, d := range all {
		if reason := d.ReasonRetained(by); d.WillErase && reason != "" {
			why[d.Stream] = reason
		}
	}
	for _, d := range all {
		session, is := d.State.(Session)
		if !is || !d.WillErase || why[d.Stream] != "" {
			continue
		}
		for _, id := range session.ArchiveItems(d.Stream) {
			if why[KnowledgeStream(id)] != "" {
				why[d.Stream] = "its archive " + id + " stays"
			}
		}
	}
	return why
}

// ReasonRetained says why a principal may not erase the target; empty if it may.
func (d ErasureTarget) ReasonRetained(by Principal) string {
	switch k := (&Knowledge{ID: d.ID, Owner: d.Owner, Standing: Standing{Held: d.Held}}); {
	case d.ID == "":
		if by.IsTenantAdmin() || by.isSelf(d.Owner) {
			return ""
		}
		return d.Stream + " may be erased by " + erasers(d.Owner)
	case !by.MayErase(k):
		return notYoursToErase(k).Detail
	case k.Held:
		return k.ID + " is under legal hold"
	}
	return ""
}

// EraseCommand is the command that erases the target.
func (d ErasureTarget) EraseCommand(by Principal, reason ErasureReason) Command {
	if d.ID != "" {
		return Erase{Target: Target{By: by, ID: d.ID}, ErasureReason: reason}
	}
	if own, is := d.State.(Erasable); is {
		return own.EraseCommand(by, d.Stream, reason)
	}
	return EraseTexts{By: by, Of: d.Stream, ErasureReason: reason}
}

// LineageMode says what an order does with items related to its targets.
type LineageMode int

// The lineage is ignored, or listed, or erased, too.
const (
	LineageIgnored LineageMode = iota
	LineageListed
	LineageErased
)
