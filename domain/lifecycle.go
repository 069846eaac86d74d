package domain

import (
	"slices"
	"strings"
	"time"
)

// Supersede asks to replace this item with another one. The caller must be a steward of it.
type Supersede struct {
	Target
	Successor string // the other item's id
	Carried   bool   // the item's votes count for the other item: see [Merge]
	Reason    string
}

// Validate names every bad field at once.
func (c Supersede) Validate() error {
	var p Problems
	checkID(&p, "by", c.Successor)
	if c.Successor == c.ID {
		p.Add("by", "must be another item")
	}
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

func (c Supersede) Reads() Reads { return Reads{Items: []string{c.Successor}} }

func (c Supersede) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.superseded(dc)
	if err != nil {
		return nil, err
	}
	successor := dc.Knowledge(c.Successor)
	if missing := c.By.missing(successor); missing != "" {
		var p Problems
		p.Miss("by", missing)
		return nil, p.Err()
	}
	if k.SupersededBy == c.Successor {
		return nil, nil
	}
	if err := carriedOn(c.By, dc, k); err != nil {
		return nil, err
	}
	if !mayReplace(c.By, k, successor) {
		return nil, narrower(successor, []string{k.ID})
	}
	if successor.Status.Withheld() {
		return nil, Refuse(ErrConflict, "%s is withheld from its readers: it is %s", successor.ID, successor.Status).
			WithFix("name an item that readers see; what is proposed takes its place after it was accepted")
	}
	if successor.Status == IsSuperseded { // so that every chain of successors ends
		return nil, Refuse(ErrConflict, "%s is itself %s", successor.ID, c.By.superseded(successor)).
			WithFix("name an item that still holds")
	}
	return []Fact{Superseded{By: c.Successor, Carried: c.Carried, Reason: c.Reason}}, nil
}

// superseded finds the item, which may be quarantined: then its stewards are those who see it, except auditors.
func (c Supersede) superseded(dc DecisionContext) (*Knowledge, error) {
	if k := dc.Knowledge(c.ID); k.Status == IsQuarantined && c.By.MaySee(k) && c.By.Role != Auditor {
		return k, c.expected(k)
	}
	return c.stewarded(dc)
}

// mayReplace tells whether a steward may let another item take the place of k. Whoever does not own k may not take it
// away from those whom it is meant for.
func mayReplace(p Principal, k, successor *Knowledge) bool {
	wide := successor.Visibility()
	return p.MayChange(k) || wide == PublicWide || wide == OrgWide || !slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return !slices.Contains(successor.Scopes, s) && (isGroup(s) || s != k.Owner.Scope())
	})
}

// narrower refuses to let k take the place of items that are shared with others than k is.
func narrower(k *Knowledge, ids []string) error {
	return Refuse(ErrForbidden, "%s is not shared with all with whom %s is", k.ID, strings.Join(ids, ", ")).
		WithFix("share %s with them first, or ask the owners", k.ID)
}

// carriedOn refuses to change what became of a superseded item as long as its votes count for another item, so that no
// vote counts twice.
func carriedOn(p Principal, dc DecisionContext, k *Knowledge) error {
	if k.Status != IsSuperseded {
		return nil
	}
	f, _ := dc.NewestFact(KnowledgeStream(k.ID), Superseded{}.Name(), "").(Superseded)
	other := dc.Knowledge(f.By)
	switch {
	case !f.Carried || other.Status == IsErased:
		return nil
	case !p.MaySee(other):
		return Refuse(ErrConflict, "the votes of %s count for the item into which it was merged", k.ID).
			WithFix("ask an admin to undo that merge")
	}
	return Refuse(ErrConflict, "the votes of %s count for %s, into which it was merged", k.ID, other.ID).
		WithFix("undo that merge, which restores %s and takes the votes back: annals unmerge %s", k.ID, other.ID)
}

// missing says why p cannot refer to k; "" if p can. An item that p may not see counts as missing.
func (p Principal) missing(k *Knowledge) string {
	switch {
	case !p.MaySee(k):
		return "no such knowledge"
	case k.Status == IsDeleted:
		return "was forgotten: restore it, or name another item"
	case k.Status == IsErased:
		return "was erased for good: name another item"
	case k.Status == IsQuarantined:
		return "is quarantined: name another item"
	}
	return ""
}

// Delete asks to remove the item from the answers. Its history stays. A legal hold does not prevent it, since it
// destroys nothing.
type Delete struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c Delete) Validate() error { return checkReason(c.Reason) }

func (c Delete) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.changeable(dc)
	if err != nil {
		return nil, err
	}
	return []Fact{Deleted{Proposed: k.Status == IsProposed, Reason: c.Reason}}, nil
}

// Restore asks to undo a deletion or a supersession. An item that was superseded before its deletion becomes
// superseded again; a second restore makes it active.
type Restore struct {
	Target
	Successor string // if not empty: only if this item supersedes it; [Unmerge] has decided who may
	Reason    string
}

// Validate names every bad field at once.
func (c Restore) Validate() error { return checkReason(c.Reason) }

func (c Restore) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k := dc.Knowledge(c.ID)
	switch {
	case c.Successor != "" && (k.Status != IsSuperseded || k.SupersededBy != c.Successor):
		return nil, nil
	case c.Successor != "":
		return []Fact{Restored{Reason: c.Reason}}, nil
	case !c.By.MaySee(k):
		return nil, NotFound(c.ID)
	case k.Status == IsErased:
		return nil, Gone(k)
	case k.Status == IsQuarantined:
		return nil, contained(k)
	}
	if err := c.permitted(k); err != nil {
		return nil, err
	}
	if k.Status == Active || k.Status == IsProposed {
		return nil, nil
	}
	if err := carriedOn(c.By, dc, k); err != nil {
		return nil, err
	}
	if holder := dc.Holder(k.Text.URI); holder != "" && holder != k.ID {
		return nil, c.displaced(dc.Knowledge(holder))
	}
	gone, _ := dc.NewestFact(KnowledgeStream(k.ID), Deleted{}.Name(), "").(Deleted)
	return []Fact{Restored{Proposed: k.Status == IsDeleted && gone.Proposed, Reason: c.Reason}}, nil
}

// displaced refuses to restore an item whose URI another item has now. It names that item only to callers that may
// see it.
func (c Restore) displaced(other *Knowledge) error {
	named := Refuse(ErrTaken, "the uri belongs to %s by now", other.ID)
	switch anew := "or remember what the history of " + c.ID + " has under another id"; {
	case c.By.MayChange(other):
		return named.WithFix("give %s another uri, or forget it, and then restore %s", other.ID, c.ID)
	case c.By.MaySee(other):
		return named.WithFix(
			"ask %s, to whom %s belongs, or an admin to give it another uri; %s", other.Owner, other.ID, anew,
		)
	default:
		return Refuse(ErrTaken, "the uri belongs to another item by now").
			WithFix("ask an admin to restore %s, and to make room for it; %s", c.ID, anew)
	}
}

// Hold asks to protect an item from erasure, for a legal case. Only admins may do so. A held item can still be
// deleted and restored, which destroys nothing.
type Hold struct {
	Target
	ReasonCode string // such as "litigation"
	Ticket     string // the case; may be empty
}

// Validate names every bad field at once.
func (c Hold) Validate() error { return checkCase(c.ReasonCode, c.Ticket) }

func (c Hold) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.administered(dc)
	if err != nil {
		return nil, err
	}
	if k.Status == IsErased {
		return nil, Gone(k)
	}
	held := Held{ReasonCode: c.ReasonCode, Ticket: c.Ticket}
	if k.Held && dc.NewestFact(c.Stream(), held.Name(), "") == Fact(held) {
		return nil, nil
	}
	return []Fact{held}, nil
}

// Release asks to end an item's legal hold. For admins.
type Release struct {
	Target
	ReasonCode string
	Ticket     string
}

// Validate names every bad field at once.
func (c Release) Validate() error { return checkCase(c.ReasonCode, c.Ticket) }

func (c Release) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.administered(dc)
	if err != nil || !k.Held {
		return nil, err
	}
	return []Fact{Released{ReasonCode: c.ReasonCode, Ticket: c.Ticket}}, nil
}

// administered finds an item for an admin. The item may be deleted.
func (t Target) administered(dc DecisionContext) (*Knowledge, error) {
	k := dc.Knowledge(t.ID)
	switch {
	case !t.By.MaySee(k):
		return nil, NotFound(t.ID)
	case !t.By.IsTenantAdmin():
		return nil, Refuse(ErrForbidden, "legal holds are for admins, in person")
	}
	return k, t.expected(k)
}

// onHold is the refusal to erase a held item.
func onHold(dc DecisionContext, k *Knowledge) error {
	held, _ := dc.NewestFact(KnowledgeStream(k.ID), Held{}.Name(), "").(Held)
	why := held.ReasonCode
	if held.Ticket != "" {
		why += ", " + held.Ticket
	}
	return Refuse(ErrConflict, "%s is under legal hold: %s", k.ID, why).
		WithFix("when the case allows it, let an admin release it: annals release %s --reason-code WORD", k.ID)
}

// reasonCode is one word, not a sentence: it stays in the log for ever.
var reasonCode = expression(`^[A-Za-z0-9][A-Za-z0-9._()/:-]{0,63}$`)

func checkCase(reason, ticket string) error {
	var p Problems
	checkReasonCode(&p, reason)
	checkTicket(&p, ticket)
	return p.Err()
}

func checkReasonCode(p *Problems, code string) {
	if !reasonCode().MatchString(code) {
		p.Add("reason_code", "must be a word of at most 64 of A-Z a-z 0-9 . _ ( ) / : -, such as gdpr-17; it stays for ever")
	}
}

func checkTicket(p *Problems, ticket string) {
	if ticket != "" && !reasonCode().MatchString(ticket) {
		p.Add("ticket", "must be a word of at most 64 of A-Z a-z 0-9 . _ ( ) / : -, such as LEGAL-7; it stays for ever")
	}
}

var (
	_ Command = Hold{}
	_ Command = Release{}
)
