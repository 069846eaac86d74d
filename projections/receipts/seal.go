package receipts

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// The receipts of a minute are sealed when it is over: one page takes the place of theirs, and in the same transaction
// an event records how many they are and the root of a Merkle tree over them. A receipt that is changed, removed or
// added later no longer matches the event, which the proofs of the log cover.

// The times of sealing.
const (
	sealedAfter    = time.Minute     // a run seals its own receipts when their minute has been over for so long
	abandonedAfter = 5 * time.Minute // any server seals those of another run
	mostSealed     = 10_000          // receipts
)

// Seal seals the receipts of past minutes, of tenants that have a log. It says that this run goes on. On a standby, it
// only says that.
func (r *Receipts) Seal(ctx context.Context) error {
	ctx = database.ForEveryTenant(ctx)
	run, now := r.current(), r.options.Clock()
	if run > 0 {
		if _, err := r.record(ctx, Batch{Run: run}); err != nil {
			return fmt.Errorf("note that the run goes on: %w", err)
		}
	}
	if r.away() {
		return nil
	}
	var due []page
	err := r.db.NewSelect().Model(&due).Column("tenant", "run").Distinct().Where("p.sealed IS NULL").
		Where("(p.run = ? AND p.to_at < ? OR p.to_at < ?)", run, database.At(now.Add(-sealedAfter).Truncate(time.Minute)),
			database.At(now.Add(-abandonedAfter))).
		OrderExpr("p.tenant, p.run").Scan(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	var failures []error
	for _, of := range due {
		if head, _, err := r.log.Reader.Head(ctx, of.Tenant); err != nil || head == 0 { // a seal makes no tenant
			failures = append(failures, err)
			continue
		}
		until := now.Add(-abandonedAfter)
		if of.Run == run {
			until = now.Add(-sealedAfter).Truncate(time.Minute)
		}
		for {
			sealed, err := r.sealMinute(ctx, of.Tenant, of.Run, until)
			if err != nil {
				failures = append(failures, fmt.Errorf("seal receipts of run %d of tenant %s: %w", of.Run, of.Tenant, err))
			}
			if err != nil || !sealed {
				break
			}
		}
	}
	return errors.Join(failures...)
}

// errSealed says that another server sealed the receipts first.
var errSealed = errors.New("sealed by another server")

// sealMinute seals the receipts of the first minute of a run that are not sealed. It returns false if there are none
// before a time.
func (r *Receipts) sealMinute(ctx context.Context, tenant string, run int64, until time.Time) (bool, error) {
	command := domain.SealReceipts{By: domain.SystemPrincipal(), Run: strconv.FormatInt(run, 10)}
	command.By.Tenant = tenant
	stream, err := r.log.Reader.State(ctx, tenant, command.Stream()) // before the pages, which another server may seal
	if err != nil {
		return false, err
	}
	before, _ := stream.State.(domain.Sealing)
	pages, err := r.unsealed(ctx, tenant, run, until)
	if err != nil || len(pages) == 0 {
		return false, err
	}
	var all []*Receipt
	for i := range pages {
		some, err := pages[i].receipts()
		if err != nil {
			return false, err
		}
		all = append(all, some...)
	}
	if command.Seal, err = sealOf(all, before.Last+1); err != nil {
		return false, err
	}
	err = r.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		var gone []page
		err := tx.NewRaw(`
			DELETE FROM receipt_pages
			WHERE tenant = ? AND run = ? AND first BETWEEN ? AND ? AND sealed IS NULL
			RETURNING first, texts`, tenant, run, pages[0].First, pages[len(pages)-1].Last).Scan(ctx, &gone)
		if err != nil {
			return err
		}
		if len(gone) != len(pages) {
			return errSealed
		}
		for _, r := range all {
			r.Question.Salt = nil
		}
		for i := range gone { // some may have been erased meanwhile
			if err := decodeQuestions(gone[i].Texts, all); err != nil {
				return err
			}
		}
		receipt, err := r.log.AppendIn(ctx, tx, domain.Submission{Command: command, By: command.By})
		if err != nil {
			return err
		}
		merged := pageOf(all)
		merged.Sealed = receipt.Position
		_, err = tx.NewInsert().Model(&merged).Exec(ctx)
		return err
	})
	if errors.Is(err, errSealed) || errors.Is(err, domain.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// unsealed are the pages of the first minute of a run that is not sealed, and over before a time.
func (r *Receipts) unsealed(ctx context.Context, tenant string, run int64, until time.Time) (pages []page, err error) {
	err = r.db.NewSelect().Model(&pages).Where("p.tenant = ?", tenant).Where("p.run = ?", run).Where("p.sealed IS NULL").
		Where("p.to_at < ?", database.At(until)).OrderExpr("p.first").Limit(mostSealed).Scan(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	count := int64(0)
	for i, p := range pages {
		if count += p.Receipts; i > 0 && (count > mostSealed || !minuteOf(p).Equal(minuteOf(pages[0]))) {
			return pages[:i], nil
		}
	}
	return pages, nil
}

func minuteOf(p page) time.Time { return p.From.Truncate(time.Minute) }

// sealOf seals receipts of a run, from the first number that is not sealed yet.
func sealOf(all []*Receipt, first int64) (domain.ReceiptsSealed, error) {
	seal := domain.ReceiptsSealed{First: first, Last: all[len(all)-1].Sequence, Count: int64(len(all))}
	expected := first
	leaves := make([]tlog.Hash, len(all))
	for i, r := range all {
		if r.Sequence < expected {
			return seal, fmt.Errorf("%w: %s is there twice, or out of order", errPage, r.ID())
		}
		if r.Sequence > expected {
			seal.Lost = append(seal.Lost, span{expected, r.Sequence - 1}.String())
		}
		expected = r.Sequence + 1
		leaves[i] = r.leaf()
		seal.Marks = append(seal.Marks, leaves[i][:domain.SealMark]...)
	}
	root, err := rootOf(leaves)
	seal.Root = root[:]
	return seal, err
}

// rootOf is the root of the Merkle tree over leaves, as RFC 6962 defines it.
func rootOf(leaves []tlog.Hash) (tlog.Hash, error) {
	stored, err := storedHashes(leaves)
	if err != nil {
		return tlog.Hash{}, err
	}
	return tlog.TreeHash(int64(len(leaves)), stored)
}

// hashes are the stored hashes of a tree.
type hashes []tlog.Hash

var _ tlog.HashReader = hashes(nil)

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = h[index]
	}
	return found, nil
}

// span is a range of sequence numbers.
type span struct{ first, last int64 }

func (s span) String() string {
	if s.first == s.last {
		return strconv.FormatInt(s.first, 10)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}
