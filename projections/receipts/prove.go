package receipts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Proof proves that a seal covers a receipt: its leaf, and the hashes beside the way to the root.
type Proof struct {
	Leaf  tlog.Hash
	Index int64 // of the receipt among those that were sealed with it, from 0
	Path  []tlog.Hash
	Seal  domain.ReceiptsSealed
	Event domain.Event // that has the seal
}

// SealedTree is the Merkle tree of the receipts that were sealed together.
type SealedTree struct {
	seal   domain.ReceiptsSealed
	event  domain.Event
	index  map[int64]int64 // by sequence numbers
	leaves []tlog.Hash
	stored hashes
}

// Tree is the tree of the receipts that were sealed with this one. The error matches [domain.ErrNotFound] if it is not
// sealed yet, or if its seal is gone.
func (r *Receipts) Tree(ctx context.Context, of Receipt) (*SealedTree, error) {
	if of.Sealed == 0 {
		return nil, domain.Refuse(domain.ErrNotFound, "%s is not sealed yet", of.ID()).
			WithFix("receipts are sealed a minute or two after the answer: ask again")
	}
	t := &SealedTree{index: map[int64]int64{}}
	at, err := r.log.Reader.Read(ctx, of.Tenant, of.Sealed-1, 1)
	if err != nil && !errors.Is(err, events.ErrHole) {
		return nil, err
	}
	for _, event := range at {
		if event.Stream == domain.ReceiptStreams.Of(strconv.FormatInt(of.Run, 10)) && event.Position == of.Sealed {
			t.event = event
			t.seal, _ = event.Fact.(domain.ReceiptsSealed)
		}
	}
	if t.event.Position == 0 {
		return nil, domain.Refuse(domain.ErrNotFound, "the seal of %s is gone", of.ID())
	}
	var pages []page
	err = r.db.NewSelect().Model(&pages).Where("p.tenant = ?", of.Tenant).Where("p.run = ?", of.Run).
		Where("p.sealed = ?", of.Sealed).OrderExpr("p.first").Scan(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	for i := range pages {
		all, err := pages[i].receipts()
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			t.index[one.Sequence] = int64(len(t.leaves))
			t.leaves = append(t.leaves, one.leaf())
		}
	}
	t.stored, err = storedHashes(t.leaves)
	return t, err
}

// Prove proves that the seal covers a receipt. If it does not, the error says so: receipts were changed.
func (t *SealedTree) Prove(of Receipt) (Proof, error) {
	index, is := t.index[of.Sequence]
	if !is {
		return Proof{}, fmt.Errorf("%w: %s is not in its page", ErrUnproven, of.ID())
	}
	p := Proof{Leaf: t.leaves[index], Index: index, Seal: t.seal, Event: t.event}
	root, err := tlog.TreeHash(int64(len(t.leaves)), t.stored)
	if err == nil && (!bytes.Equal(root[:], t.seal.Root) || int64(len(t.leaves)) != t.seal.Count) {
		err = fmt.Errorf("%w: the receipts of its minute are not those that were sealed", ErrUnproven)
	}
	if err == nil {
		p.Path, err = tlog.ProveRecord(int64(len(t.leaves)), index, t.stored)
	}
	return p, err
}

// ErrUnproven says that receipts are not as they were sealed.
var ErrUnproven = errors.New("not as it was sealed")

// storedHashes are the hashes of the Merkle tree over leaves, as RFC 6962 defines it.
func storedHashes(leaves []tlog.Hash) (stored hashes, err error) {
	for i, leaf := range leaves {
		more, err := tlog.StoredHashesForRecordHash(int64(i), leaf, stored)
		if err != nil {
			return nil, err
		}
		stored = append(stored, more...)
	}
	return stored, nil
}
