package receipts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Batch is what a run records at once: that it begins, pages, that it goes on, or that it ends. A server on a standby
// sends it to the primary's server until that answers. So it can arrive late, and twice.
type Batch struct {
	Server string           `json:"server,omitempty"` // of a run that begins
	Run    int64            `json:"run,omitempty"`    // 0 for one that begins
	Pages  []page           `json:"pages,omitempty"`
	Lasts  map[string]int64 `json:"lasts,omitzero"` // the last number of each tenant, of a run that ends
}

// Primary is the primary's server, for a server whose database is a standby, or may become one.
type Primary interface {
	// Needed tells whether the database is a standby now.
	Needed() bool
	// Send lets [Receipts.TakeBatch] take a batch there.
	Send(ctx context.Context, kind string, batch, answer any) error
}

// BatchKind names batches of receipts among those of other kinds.
const BatchKind = "receipts"

// away tells whether the primary's server records the batches.
func (r *Receipts) away() bool { return r.options.Primary != nil && r.options.Primary.Needed() }

// record records a batch here, or at the primary's server. It returns the number of the run.
func (r *Receipts) record(ctx context.Context, b Batch) (run int64, err error) {
	if r.away() {
		err = r.options.Primary.Send(ctx, BatchKind, b, &run)
		return run, err
	}
	ctx = database.ForEveryTenant(ctx)
	now := database.At(r.options.Clock())
	switch {
	case b.Run == 0:
		return r.newRun(ctx, b.Server)
	case len(b.Pages) > 0:
		err = r.save(ctx, b.Pages)
	case b.Lasts != nil:
		var lasts []byte
		if lasts, err = json.Marshal(b.Lasts); err == nil {
			_, err = r.db.TransactOne(ctx, `
				UPDATE receipt_runs
				SET ended_at = ?, lasts = ?
				WHERE run = ?`, now, string(lasts), b.Run)
		}
	default:
		_, err = r.db.TransactOne(ctx, "UPDATE receipt_runs SET seen_at = ? WHERE run = ?", now, b.Run)
	}
	return b.Run, err
}

// TakeBatch records a batch of a server on a standby, unless it was recorded before. The answer is the number of the
// run.
func (r *Receipts) TakeBatch(ctx context.Context, read func(batch any) error) (run any, err error) {
	ctx = database.ForEveryTenant(ctx)
	if r.away() { // it was not when the request came
		return nil, domain.Refuse(domain.ErrUnavailable, "this server reads a standby")
	}
	var b Batch
	if err := read(&b); err != nil {
		return nil, err
	}
	if b.Run == 0 {
		var known int64
		err := r.db.QueryRowContext(ctx, "SELECT coalesce(max(run), 0) FROM receipt_runs WHERE server = ?", b.Server).
			Scan(&known)
		if err != nil || known > 0 {
			return known, err
		}
		return r.record(ctx, b)
	}
	var fresh []page
	for _, sent := range b.Pages {
		p, err := r.arrived(ctx, b.Run, sent)
		if err != nil {
			return nil, err
		}
		if p.Receipts > 0 {
			fresh = append(fresh, p)
		}
	}
	if len(b.Pages) > 0 && len(fresh) == 0 {
		return b.Run, nil
	}
	b.Pages = fresh
	return r.record(ctx, b)
}

// arrived is a page with what a batch leaves out. It is empty if it was written before, since pages of a run come in
// order; a seal may have merged it with others meanwhile.
func (r *Receipts) arrived(ctx context.Context, run int64, sent page) (p page, err error) {
	sent.Run = run
	all, err := sent.receipts()
	if err != nil || len(all) == 0 {
		return p, domain.Refuse(domain.ErrMalformed, "a page of the batch cannot be read")
	}
	var last int64
	err = r.db.QueryRowContext(ctx, `
		SELECT coalesce((
			SELECT last
			FROM receipt_pages
			WHERE tenant = ? AND run = ?
			ORDER BY first DESC
			LIMIT 1
		), 0)`, sent.Tenant, run).Scan(&last)
	if err != nil || last >= all[0].Sequence {
		return p, failedOrNil(ctx, err)
	}
	const late = 2 * time.Second // an erasure may have been faster
	if r.options.Clock().Sub(all[0].At) > late {
		err = r.forgetErased(ctx, sent.Tenant, all)
	}
	return pageOf(all), err
}

// forgetErased leaves out the questions that were to be erased before they arrived.
func (r *Receipts) forgetErased(ctx context.Context, tenant string, all []*Receipt) error {
	const atOnce = 500
	for after := ""; ; {
		orders, err := r.log.Reader.States(ctx, tenant, domain.ErasureStreams.Of(""), after, atOnce)
		if err != nil {
			return fmt.Errorf("look for erasures: %w", err)
		}
		for _, stream := range orders {
			after = stream.Name
			order, _ := stream.State.(domain.Erasure)
			of := domain.Entity(order.Of)
			_, whole := domain.TenantOf(order.Of)
			for _, one := range all {
				if order.OrderedAt.After(one.At) && (whole || of == one.Caller || of == one.OnBehalfOf) {
					one.Question.Salt = nil
				}
			}
		}
		if len(orders) < atOnce {
			return nil
		}
	}
}
