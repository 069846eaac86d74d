package subscriptions

import (
	"context"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
)

// Name names the follower.
const Name = "subscriptions"

// Follow makes it follow every tenant's log.
func (s *Subscriptions) Follow(router *message.Router) {
	follow.AddPreparer(router, s.Log, Name, s.prepare)
}

// pageChange is what a page leads to.
type pageChange struct {
	s      *Subscriptions
	tenant string
	due    []domain.Delivery
	ended  []string // subscriptions
}

// prepare finds the deliveries of a page. It pauses the subscriptions of deactivated members, and ends those whose
// texts were erased.
func (s *Subscriptions) prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	way := &pageChange{s: s, tenant: page.Tenant}
	all, err := s.List(ctx, page.Tenant, "")
	if err != nil || len(all) == 0 {
		return way, err
	}
	m := s.matcher(page.Tenant)
	for _, e := range page.Events {
		id := domain.SubscriptionID(e.Stream)
		switch e.Fact.(type) {
		case domain.SubscriptionEnded:
			way.ended = append(way.ended, id)
			continue
		case domain.TextsErased:
			if id != e.Stream {
				if err := s.change(ctx, page.Tenant, id, domain.SubscriptionEnded{Cause: domain.CauseErased}); err != nil {
					return nil, err
				}
			}
			continue
		case domain.MemberDeactivated:
			if err := s.pauseAll(ctx, page.Tenant, all, domain.Entity(e.Stream)); err != nil {
				return nil, err
			}
			continue
		}
		for _, one := range all {
			if !one.Webhook || !one.EndedAt.IsZero() || !one.PausedAt.IsZero() && e.RecordedAt.After(one.PausedAt) {
				continue
			}
			follows, err := m.matches(ctx, one, e)
			if err != nil {
				return nil, err
			}
			if follows {
				way.due = append(way.due, domain.Delivery{Subscription: one.ID, Position: e.Position, EventID: e.EventID})
			}
		}
	}
	return way, nil
}

func (s *Subscriptions) pauseAll(
	ctx context.Context, tenant string, all []domain.Subscribed, of domain.Entity,
) error {
	for _, one := range all {
		if one.Active() && (one.Subscriber == of || one.By == of) {
			if err := s.change(ctx, tenant, one.ID, domain.SubscriptionPaused{Cause: domain.CauseRights}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write implements [follow.Change].
func (w *pageChange) Write(ctx context.Context, tx bun.IDB) error {
	now := database.At(w.s.now())
	for _, d := range w.due {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO deliveries (tenant, subscription, position, event_id, state, next_at, at)
			VALUES (?, ?, ?, ?, 'pending', ?, ?)
			ON CONFLICT (tenant, subscription, position) DO NOTHING`,
			w.tenant, d.Subscription, d.Position, d.EventID, now, now)
		if err != nil {
			return failed(ctx, "write deliveries", err)
		}
	}
	for _, id := range w.ended {
		if err := end(ctx, tx, w.tenant, id); err != nil {
			return err
		}
	}
	return nil
}

// end drops what is pending for a subscription, and its secret.
func end(ctx context.Context, tx bun.IDB, tenant, id string) error {
	for _, statement := range []string{
		"DELETE FROM webhook_secrets WHERE tenant = ? AND subscription = ?",
		"UPDATE deliveries SET state = 'dropped' WHERE tenant = ? AND subscription = ? AND state = 'pending'",
	} {
		if _, err := tx.ExecContext(ctx, statement, tenant, id); err != nil {
			return failed(ctx, "end a subscription", err)
		}
	}
	return nil
}

// Done implements [follow.Change].
func (w *pageChange) Done() {
	if len(w.due) > 0 {
		w.s.Wake()
	}
}

var _ follow.Change = (*pageChange)(nil)
