package domain

import (
	"errors"
	"time"
)

// SealMark is how many bytes a seal has of each leaf.
const SealMark = 3

// ReceiptStreams are the streams of the runs that gave receipts to callers of a tenant.
var ReceiptStreams = StreamKind{
	Name: "receipts", State: Sealing{}, Form: 1, KeepsRights: true, Facts: []Fact{ReceiptsSealed{}},
}

// Sealing is how far the receipts of a run are sealed: the state of its stream.
type Sealing struct {
	Last int64     `json:"last"`
	At   time.Time `json:"at"`
}

func (s Sealing) Evolve(fact Fact, at EventMetadata) (State, error) {
	sealed, is := fact.(ReceiptsSealed)
	if !is || sealed.First <= s.Last {
		return s, errors.New("receipts are sealed once, in the order of their numbers")
	}
	return Sealing{Last: sealed.Last, At: at.RecordedAt}, nil
}

// SealReceipts asks to seal receipts of a run. Only the server does so.
type SealReceipts struct {
	By   Principal
	Run  string
	Seal ReceiptsSealed
}

func (c SealReceipts) Stream() string { return ReceiptStreams.Of(c.Run) }

func (SealReceipts) Reads() Reads { return Reads{} }

// Decide implements [Command]. The error matches [ErrConflict] if another server sealed some of the receipts first.
func (c SealReceipts) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if c.By.Authentication != SystemPrincipal().Authentication {
		return nil, Refuse(ErrForbidden, "only the server seals receipts")
	}
	if now := StateOf[Sealing](dc, c.Stream()); c.Seal.First <= now.Last {
		return nil, Refuse(ErrConflict, "the receipts of run %s are sealed up to %d", c.Run, now.Last)
	}
	return []Fact{c.Seal}, nil
}

var _ Command = SealReceipts{}
