package serve

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// IsTenant tells whether it is the erasure of the tenant itself.
func (e Erasure) IsTenant() bool {
	name, is := domain.TenantOf(e.Stream)
	return is && name == e.Tenant
}

// tenantsLast lets what is named for itself be erased before its tenant: a legal hold that is over would keep it.
func tenantsLast(list []Erasure) []Erasure {
	last := func(line Erasure) int {
		if line.IsTenant() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b Erasure) int { return last(a) - last(b) })
	return list
}

// tenant erases a tenant again, with all that was written in it, since nobody but root gets in after that. One that
// began after the erasure is another one.
func (r *Replayed) tenant(ctx context.Context, log *events.Log, eraser *projections.Eraser, line Erasure) error {
	if line.Tenant == domain.DefaultTenant {
		return r.defaultTenant(ctx, eraser, line)
	}
	stream, err := log.State(database.ForTenant(ctx, domain.SystemTenant), domain.SystemTenant, line.Stream)
	if err != nil {
		return err
	}
	if state, _ := stream.State.(domain.Tenant); !stream.Exists() || state.CreatedAt.After(line.RecordedAt) {
		r.unknown(line)
		return nil
	}
	order, err := log.OrderedBy(ctx, line.Tenant, line.EventID)
	if err != nil {
		return err
	}
	if order.Stream != "" {
		r.Known++
		return eraser.CarryOutOrder(ctx, order)
	}
	ordering := line.submission()
	ordering.Command = domain.OrderErasure{By: ordering.By, ID: line.EventID, Of: line.Stream, ErasureReason: line.grounds()}
	receipt, err := log.Submit(ctx, ordering)
	if err != nil {
		return err
	}
	r.Erased++
	return eraser.CarryOutOrder(ctx, events.Order{Tenant: line.Tenant, Stream: receipt.Stream.Name})
}

// defaultTenant lets the keys open nothing that there were when everything in the default tenant was erased. It lives
// on after that, and what is written there since stays; the list names everything else.
func (r *Replayed) defaultTenant(ctx context.Context, eraser *projections.Eraser, line Erasure) error {
	revoking := line.submission()
	revoked, err := eraser.RevokeKeys(ctx, revoking.By, revoking.Origin, line.RecordedAt)
	if err != nil {
		return err
	}
	if revoked > 0 {
		r.Erased++
	} else {
		r.Known++
	}
	return nil
}
