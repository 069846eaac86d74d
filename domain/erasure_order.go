package domain

import (
	"errors"
	"strings"
	"time"
)

// Erasure is an order to erase many things, and its progress: the state of its stream. The server continues an order
// after every restart.
type Erasure struct {
	Of          string    `json:"of"` // see [OrderErasure]
	WithLineage bool      `json:"with_lineage,omitempty"`
	KeepShared  bool      `json:"keep_shared,omitempty"`
	KeepAccess  bool      `json:"keep_access,omitempty"`
	Role        Role      `json:"role"` // of the principal that ordered it
	ReasonCode  string    `json:"reason_code"`
	LegalBasis  string    `json:"legal_basis,omitempty"`
	RequestedBy string    `json:"requested_by,omitempty"`
	Ticket      string    `json:"ticket,omitempty"`
	OrderedAt   time.Time `json:"ordered_at"`
	EndedAt     time.Time `json:"ended_at,omitzero"`
	Erased      int64     `json:"erased,omitempty"`
	Refused     []Refused `json:"refused,omitempty"` // the first [MostRefused]
	NotErased   int64     `json:"not_erased,omitempty"`
}

// Refused is something that an order could not erase, and the reason.
type Refused struct {
	Stream string `json:"stream"`
	Reason string `json:"reason"`
}

// MostRefused limits the refusals that an order names.
const MostRefused = 100

// UnderWay tells whether the order has work left.
func (e Erasure) UnderWay() bool { return !e.OrderedAt.IsZero() && e.EndedAt.IsZero() }

// ErasureProgress is an order and its progress.
type ErasureProgress struct {
	Erasure

	Erased  int64 // items, sessions and other things
	Passed  int64 // items, to groups
	Left    int64 // an estimate
	Revoked int64 // keys
}

// Reason is the reason of the order.
func (e Erasure) Reason() ErasureReason {
	return ErasureReason{ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket}
}

// ErasureStreams are the streams of orders, in the log of the tenant whose texts they erase. Their names are also the
// correlation ids of the orders' events.
var ErasureStreams = StreamKind{
	Name: "erasure", State: Erasure{}, Form: 1, Facts: []Fact{ErasureOrdered{}, ErasureCompleted{}},
}

func (e Erasure) Evolve(fact Fact, at EventMetadata) (State, error) {
	switch f := fact.(type) {
	case ErasureOrdered:
		if at.Version == 1 {
			return Erasure{
				Of: f.Of, WithLineage: f.WithLineage, KeepShared: f.KeepShared, KeepAccess: f.KeepAccess,
				Role: f.Role, ReasonCode: f.ReasonCode, LegalBasis: f.LegalBasis,
				RequestedBy: f.RequestedBy, Ticket: f.Ticket, OrderedAt: at.RecordedAt,
			}, nil
		}
	case ErasureCompleted:
		if e.UnderWay() {
			e.EndedAt, e.Erased, e.NotErased, e.Refused = at.RecordedAt, f.Erased, f.NotErased, f.Refused
			return e, nil
		}
	}
	return e, errors.New("an erasure is ordered once, and completed once")
}

// OrderErasure asks to erase many things, one after the other.
type OrderErasure struct {
	By Principal
	ID string
	// Of names what to erase. An entity means all that it owns and all that is meant for it alone. "tenant:NAME"
	// means everything. Other values are the stream of a session or the id of an item.
	Of          string
	WithLineage bool // also the items that they were made from, that were made from them, and that superseded them
	KeepShared  bool // items of a user or an agent that are meant for a group pass to it
	KeepAccess  bool // a user or an agent keeps its keys and its groups
	ErasureReason
}

// TenantOf is the tenant that "tenant:NAME" names; false for any other value.
func TenantOf(of string) (name string, isTenant bool) {
	return TenantStreams.ID(of), TenantStreams.Has(of)
}

func isSession(of string) bool {
	_, _, is := SessionOf(of)
	return is
}

// IsItem tells whether an order names one item.
func IsItem(of string) bool { return !strings.Contains(of, ":") }

// Complete fills in defaults and names every bad field at once. The error matches [ErrForbidden] if the caller may
// not order the erasure.
func (c OrderErasure) Complete() (OrderErasure, error) {
	var p Problems
	c.ErasureReason = c.complete(&p)
	tenant, isTenant := TenantOf(c.Of)
	switch _, err := ParseEntity(c.Of); {
	case isTenant && tenant != c.By.Tenant && c.allowed() == nil:
		p.Add("of", "is another tenant than %s, which the request is in: name it in Annals-Tenant, too", c.By.Tenant)
	case isTenant, isSession(c.Of):
	case !IsItem(c.Of) && err != nil:
		p.Add("of", "%s", err)
	case IsItem(c.Of):
		checkID(&p, "of", c.Of)
	}
	if err := p.Err(); err != nil {
		return c, err
	}
	return c, c.allowed()
}

// allowed refuses callers that may erase none of it.
func (c OrderErasure) allowed() error {
	_, isTenant := TenantOf(c.Of)
	whose := Entity(c.Of)
	if owner, _, is := SessionOf(c.Of); is {
		whose = owner
	}
	switch {
	case isTenant && c.By.Authentication == OpenAuthentication: // afterwards, any caller would still have access
		return Refuse(ErrForbidden, "erasing a tenant is for root").
			WithFix(
				"start the server again with ANNALS_ROOT_KEY, and use that one: it is no key of the tenant, which are revoked",
			)
	case isTenant && !c.By.IsOperator():
		return notRoot(c.By, "erasing a tenant is for root")
	case isTenant, IsItem(c.Of): // the command for each item decides
		return nil
	case c.By.Role == Auditor, !c.By.isSelf(whose) && !c.By.IsTenantAdmin():
		return Refuse(ErrForbidden, "what is %s's may be erased by %s", whose, erasers(whose))
	}
	return nil
}

func (c OrderErasure) Stream() string { return ErasureStreams.Of(c.ID) }

func (c OrderErasure) Reads() Reads {
	if !IsItem(c.Of) {
		return Reads{}
	}
	return Reads{Items: []string{c.Of}}
}

func (c OrderErasure) RewriteText(r TextRewriter) Command {
	c.ErasureReason = c.rewritten(r)
	return c
}

func (c OrderErasure) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.allowed(); err != nil {
		return nil, err
	}
	if IsItem(c.Of) {
		if k := dc.Knowledge(c.Of); !c.By.MaySee(k) {
			return nil, NotFound(c.Of)
		} else if !c.By.MayErase(k) {
			return nil, notYoursToErase(k)
		} else if k.Held { // what is related to it goes for its sake
			return nil, onHold(dc, k)
		}
	}
	if dc.Stream(c.Stream()).Exists() {
		return nil, Refuse(ErrConflict, "the erasure is ordered already")
	}
	return []Fact{ErasureOrdered{
		Of: c.Of, WithLineage: c.WithLineage, KeepShared: c.KeepShared, KeepAccess: c.KeepAccess, Role: c.By.Role,
		ReasonCode: c.ReasonCode, LegalBasis: c.LegalBasis, RequestedBy: c.RequestedBy, Ticket: c.Ticket,
	}}, nil
}

// CompleteErasure asks to record that an order has no work left.
type CompleteErasure struct {
	ID        string
	Erased    int64
	NotErased int64
	Refused   []Refused
}

func (c CompleteErasure) Stream() string { return ErasureStreams.Of(c.ID) }

func (c CompleteErasure) Reads() Reads { return Reads{} }

// Decide implements [Command]. It records nothing if another server has completed the order.
func (c CompleteErasure) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if !StateOf[Erasure](dc, c.Stream()).UnderWay() {
		return nil, nil
	}
	return []Fact{
		ErasureCompleted{Erased: c.Erased, NotErased: c.NotErased, Refused: c.Refused[:min(len(c.Refused), MostRefused)]},
	}, nil
}

// EraseTexts asks to destroy the texts of a stream that is neither an item nor a session.
type EraseTexts struct {
	By Principal
	Of string // the stream
	ErasureReason
}

func (c EraseTexts) Stream() string { return c.Of }

func (c EraseTexts) Reads() Reads { return Reads{} }

func (c EraseTexts) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	belonging, isOwned := dc.Stream(c.Of).State.(OwnedState)
	if (!isOwned || c.By.Role == Auditor || !c.By.isSelf(belonging.StateOwner())) && !c.By.IsTenantAdmin() {
		return nil, Refuse(ErrForbidden, "what was written there may be erased by its owner in person, or by an admin")
	}
	texts := dc.TextsOf(c.Of)
	if len(texts) == 0 {
		return nil, nil
	}
	return []Fact{TextsErased{
		ReasonCode: c.ReasonCode, LegalBasis: c.LegalBasis, RequestedBy: c.RequestedBy, Ticket: c.Ticket,
		Events: idsOf(texts),
	}}, nil
}

// OwnedState is a [State] with an owner. An erasure of the owner includes it.
type OwnedState interface {
	State
	StateOwner() Entity
}

// Erasable is a [State] that has its own erasure command instead of [EraseTexts].
type Erasable interface {
	OwnedState
	// EraseCommand is the command that erases the stream.
	EraseCommand(by Principal, stream string, reason ErasureReason) Command
}

// StateOwner implements [OwnedState]: the note of a key is about the subject of the key.
func (k Key) StateOwner() Entity { return k.Subject }

func (s Session) StateOwner() Entity { return s.Owner }

func (s Session) EraseCommand(by Principal, stream string, reason ErasureReason) Command {
	return EraseSession{
		SessionTarget: SessionTarget{By: by, Owner: s.Owner, ID: strings.TrimPrefix(stream, SessionsOf(s.Owner))},
		ErasureReason: reason,
		Archives:      s.ArchiveItems(stream),
	}
}

var (
	_ State       = Erasure{}
	_ TextCommand = OrderErasure{}
	_ Command     = CompleteErasure{}
	_ Command     = EraseTexts{}
	_ OwnedState  = Key{}
	_ Erasable    = Session{}
)
