package subscriptions

import (
	"context"
	"errors"
	"slices"

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
	follow.AddPreparer(router, s.Followers, Name, s.prepare)
}

// pageChange is what a page leads to.
type pageChange struct {
	s      *Subscriptions
	tenant string
	due    []dueEvent
	ended  []string // subscriptions
}

// dueEvent is an event with the subscriptions that deliver it.
type dueEvent struct {
	domain.Event
	to []string
}

// reader says whose rights a subscription has.
type reader struct {
	subscriber, by domain.Entity
	authentication string
}

// prepare finds the deliveries of a page: those of events that the subscriber may read now. It pauses the subscriptions
// of deactivated members and of those without rights, and ends those whose texts were erased.
func (s *Subscriptions) prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	way := &pageChange{s: s, tenant: page.Tenant}
	all, err := s.List(ctx, page.Tenant, "")
	if err != nil || len(all) == 0 {
		return way, err
	}
	m := s.matcher(page.Tenant)
	m.strict = true
	readers := map[reader]*domain.Principal{} // nil if they may read nothing
	for _, e := range page.Events {
		id := domain.SubscriptionStreams.ID(e.Stream)
		switch f := e.Fact.(type) {
		case domain.SubscriptionEnded:
			way.ended = append(way.ended, id)
			continue
		case domain.TextsErased:
			if err := s.endErased(ctx, page.Tenant, all, id, f.Events); err != nil {
				return nil, err
			}
			continue
		case domain.MemberDeactivated:
			if err := s.pauseAll(ctx, page.Tenant, all, e); err != nil {
				return nil, err
			}
			continue
		}
		due := dueEvent{Event: e}
		for i, one := range all {
			if !one.Takes(e.Position) {
				continue
			}
			delivers, err := s.delivers(ctx, m, readers, &all[i], e)
			if err != nil {
				return nil, err
			}
			if delivers {
				due.to = append(due.to, one.ID)
			}
		}
		if len(due.to) > 0 {
			way.due = append(way.due, due)
		}
	}
	return way, nil
}

// delivers tells whether a subscription follows an event that its subscriber may read now. If the subscriber has no
// rights any more, it pauses the subscription.
func (s *Subscriptions) delivers(
	ctx context.Context, m *matcher, readers map[reader]*domain.Principal, one *domain.Subscribed, e domain.Event,
) (bool, error) {
	follows, err := m.matches(ctx, *one, e)
	if err != nil || !follows {
		return false, err
	}
	who := reader{one.Subscriber, one.By, one.Authentication}
	p, known := readers[who]
	if !known {
		now, err := s.Rights(ctx, m.tenant, one.Subscription)
		if err != nil && !errors.Is(err, domain.ErrUnauthenticated) {
			return false, err
		}
		if err == nil {
			p = &now
		}
		readers[who] = p
	}
	if p == nil {
		one.Webhook = false // it takes no more events of this page
		return false, s.change(ctx, m.tenant, one.ID, domain.SubscriptionPaused{Cause: domain.CauseRights})
	}
	_, may, err := m.visible(ctx, *p, e)
	return may, err
}

// endErased ends a subscription if the texts of its creation were erased.
func (s *Subscriptions) endErased(
	ctx context.Context, tenant string, all []domain.Subscribed, id string, erased []string,
) error {
	for _, one := range all {
		if one.ID == id && slices.Contains(erased, one.Created) {
			return s.change(ctx, tenant, id, domain.SubscriptionEnded{Cause: domain.CauseErased})
		}
	}
	return nil
}

// pauseAll pauses what a deactivated member receives, unless it was resumed since.
func (s *Subscriptions) pauseAll(ctx context.Context, tenant string, all []domain.Subscribed, e domain.Event) error {
	of := domain.Entity(e.Stream)
	for _, one := range all {
		if one.Active() && (one.Subscriber == of || one.By == of) && e.Position > max(one.After, one.ResumedFrom) {
			if err := s.change(ctx, tenant, one.ID, domain.SubscriptionPaused{Cause: domain.CauseRights}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write implements [follow.Change]. A webhook without a secret receives nothing: after a restore from an exported
// log, what happened before is not posted again.
func (w *pageChange) Write(ctx context.Context, tx bun.IDB) error {
	now := database.At(w.s.now())
	for _, d := range w.due {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO deliveries (tenant, subscription, position, event_id, state, at)
			SELECT tenant, subscription, ?, ?, 'pending', ?
			FROM webhook_secrets
			WHERE tenant = ? AND subscription IN (?)
			ON CONFLICT (tenant, subscription, position) DO NOTHING`,
			d.Position, d.EventID, now, w.tenant, bun.List(d.to))
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

// end drops what is pending for a subscription, and its secrets.
func end(ctx context.Context, tx bun.IDB, tenant, id string) error {
	for _, statement := range []string{
		"DELETE FROM webhook_secrets WHERE tenant = ? AND subscription = ?",
		"DELETE FROM former_secrets WHERE tenant = ? AND subscription = ?",
		"UPDATE deliveries SET state = 'dropped' WHERE tenant = ? AND subscription = ? AND state = 'pending'",
	} {
		if _, err := tx.ExecContext(ctx, statement, tenant, id); err != nil {
			return failed(ctx, "end a subscription", err)
		}
	}
	return nil
}

func (w *pageChange) Done() {
	if len(w.due) > 0 {
		w.s.Wake()
	}
}

var _ follow.Change = (*pageChange)(nil)
