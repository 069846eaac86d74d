package domain

import (
	"time"
)

// Hold asks to protect an item from erasure, for a legal case. Only admins may do so. A held item can still be
// deleted and restored, which destroys nothing.
type Hold struct {
	Target
	ReasonCode string // such as "litigation"
	Ticket     string // the case; may be empty
}

// Validate names every bad field at once.
func (c Hold) Validate() error { return checkCase(c.ReasonCode, c.Ticket) }

// Decide implements [Command].
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

// Decide implements [Command].
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
