package receipts

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// Proof proves that a receipt is one of those that an event sealed. Who has the event, with its proof, needs only the
// canonical receipt besides.
type Proof struct {
	EventID string // of receipts.sealed
	Index   int64  // of the receipt among the sealed ones: 0, 1, 2 …
	Count   int64
	Root    domain.Digest
	Path    []domain.Digest // from the leaf's neighbour upwards, as RFC 6962 has it
}

// Prove proves that a receipt is sealed. The error matches [domain.ErrConflict] if it is not sealed yet, or if its page
// does not match its seal.
func (r *Receipts) Prove(ctx context.Context, receipt Receipt) (proof Proof, err error) {
	if receipt.Sealed == 0 {
		return proof, domain.Refuse(domain.ErrConflict, "%s is not sealed yet", receipt.ID()).WithFix("wait two minutes")
	}
	sealed, err := r.log.Reader.Read(ctx, receipt.Tenant, receipt.Sealed-1, 1)
	if err != nil {
		return proof, err
	}
	broken := domain.Refuse(domain.ErrConflict, "%s does not match its seal", receipt.ID()).
		WithFix("annals verify --receipts names what was changed")
	if len(sealed) != 1 {
		return proof, broken
	}
	seal, is := sealed[0].Fact.(domain.ReceiptsSealed)
	var pages []page
	err = r.db.NewSelect().Model(&pages).Where("p.tenant = ?", receipt.Tenant).Where("p.run = ?", receipt.Run).
		Where("p.sealed = ?", receipt.Sealed).Scan(ctx)
	if err != nil {
		return proof, failed(ctx, err)
	}
	if !is || len(pages) != 1 {
		return proof, broken
	}
	all, err := pages[0].receipts()
	if err != nil {
		return proof, err
	}
	proof = Proof{EventID: sealed[0].EventID, Index: -1, Count: int64(len(all))}
	leaves := make([]tlog.Hash, len(all))
	for i, one := range all {
		if leaves[i] = one.leaf(); one.Sequence == receipt.Sequence {
			proof.Index = int64(i)
		}
	}
	stored, err := treeOf(leaves)
	if err != nil || proof.Index < 0 {
		return proof, broken
	}
	root, err := tlog.TreeHash(proof.Count, stored)
	if err != nil || string(root[:]) != string(seal.Root) {
		return proof, broken
	}
	proof.Root = domain.Digest(root)
	path, err := tlog.ProveRecord(proof.Count, proof.Index, stored)
	if err != nil {
		return proof, fmt.Errorf("prove %s: %w", receipt.ID(), err)
	}
	for _, hash := range path {
		proof.Path = append(proof.Path, domain.Digest(hash))
	}
	return proof, nil
}
