package subscriptions

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

const (
	interval      = time.Second // after which the sender looks for what is due
	mostReceivers = 32          // that are posted to at the same time
	mostOfOne     = 4           // of them that one entity receives or made
	turn          = time.Second // after which a receiver waits behind the others
	longestDelay  = time.Hour   // between two attempts
	pausedFor     = time.Minute // until a paused subscription is looked at again
)

// Run posts what is due until ctx ends. Of the processes that share the database, one posts at a time. A delivery whose
// process was killed is posted again, with the same id.
func (s *Subscriptions) Run(ctx context.Context) { sender{s}.run(ctx) }

// sender posts what is due.
type sender struct{ *Subscriptions }

func (s sender) run(ctx context.Context) {
	look, sweep := time.NewTicker(interval), time.NewTicker(time.Hour)
	defer look.Stop()
	defer sweep.Stop()
	for {
		if err := s.work(database.ForEveryTenant(ctx)); err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "webhooks were not posted; the next attempt is in a second", "error", err)
		}
		select {
		case <-s.wake:
		case <-look.C:
		case <-sweep.C:
			if err := s.sweep(database.ForEveryTenant(ctx), s.Keep); err != nil && ctx.Err() == nil {
				s.Logger.WarnContext(ctx, "old deliveries were not deleted; the next attempt is in an hour", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// work posts what is due, if no other process does. Without due deliveries it writes nothing.
func (s sender) work(ctx context.Context) error {
	due, err := s.receivers(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	return s.Followers.RunExclusively(ctx, "webhooks", s.postDue)
}

// postDue posts until nothing is due. A receiver has its turn as soon as another one has had it, so that a slow one
// delays no other. The receivers of one entity leave room for those of others.
func (s sender) postDue(ctx context.Context) error {
	var posting sync.WaitGroup
	defer posting.Wait()
	done := make(chan receiver, mostReceivers)
	busy, of := map[string]bool{}, map[string]int{}
	for {
		due, err := s.receivers(ctx)
		if err != nil {
			return err
		}
		for _, r := range due {
			if len(busy) == mostReceivers || busy[r.id] || of[r.tenant+r.maker] == mostOfOne {
				continue
			}
			busy[r.id] = true
			of[r.tenant+r.maker]++
			posting.Go(func() {
				if err := s.postAll(database.ForTenant(ctx, r.tenant), r); err != nil && ctx.Err() == nil {
					s.Logger.WarnContext(ctx, "a webhook was not posted to", "tenant", r.tenant, "subscription", r.id, "error", err)
					_ = s.delay(ctx, r, s.now().Add(interval)) // without it, the next attempt is at once
				}
				done <- r
			})
		}
		if len(busy) == 0 {
			return nil
		}
		select {
		case r := <-done:
			delete(busy, r.id)
			of[r.tenant+r.maker]--
		case <-s.wake:
		case <-time.After(interval): // another may be due
		}
	}
}

// postAll posts the pending deliveries of a webhook in the order of the log, until one fails or its turn is over.
func (s sender) postAll(ctx context.Context, r receiver) error {
	for until := s.now().Add(turn); ; {
		due, err := s.Deliveries(ctx, r.tenant, r.id, domain.DeliveryQuery{State: "pending", OldestFirst: true, Limit: 20})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, d := range due {
			if goOn, err := s.deliver(ctx, &r, d); err != nil || !goOn {
				return err
			}
			if s.now().After(until) {
				return s.delay(ctx, r, s.now()) // behind those that wait
			}
		}
	}
}

// deliver makes one attempt at a delivery. goOn is false if the subscription has to wait.
func (s sender) deliver(ctx context.Context, r *receiver, d domain.Delivery) (goOn bool, err error) {
	to, err := s.Find(ctx, r.tenant, r.id)
	switch {
	case errors.Is(err, domain.ErrNotFound), err == nil && (!to.EndedAt.IsZero() || to.URL == ""):
		return false, s.write(ctx, func(ctx context.Context, tx bun.Tx) error { return end(ctx, tx, r.tenant, r.id) })
	case err != nil:
		return false, err
	case !to.PausedAt.IsZero():
		return false, s.delay(ctx, *r, s.now().Add(pausedFor))
	}
	p, err := s.Rights(ctx, r.tenant, to.Subscription)
	if errors.Is(err, domain.ErrUnauthenticated) {
		if err := s.change(ctx, r.tenant, r.id, domain.SubscriptionPaused{Cause: domain.CauseRights}); err != nil {
			return false, err
		}
		return false, s.delay(ctx, *r, s.now().Add(pausedFor))
	}
	if err != nil {
		return false, err
	}
	event, may, err := s.read(ctx, p, d)
	if err != nil {
		return false, err
	}
	if !may {
		d.State = "dropped"
		return true, s.save(ctx, d)
	}
	secrets, err := s.secrets(ctx, r.tenant, r.id)
	if err != nil {
		return false, err
	}
	a := s.post(ctx, to.URL, secrets, s.cloudEventOf(r.tenant, event))
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return s.record(ctx, r, d, a)
}

// read reads the event of a delivery as the subscriber may read it now.
func (s sender) read(ctx context.Context, p domain.Principal, d domain.Delivery) (domain.Event, bool, error) {
	found, _, err := s.Log.Finder.Find(ctx, domain.EventQuery{Tenant: d.Tenant, After: d.Position - 1, Limit: 1})
	if err != nil || len(found) == 0 || found[0].EventID != d.EventID {
		return domain.Event{}, false, err
	}
	return s.matcher(d.Tenant).visible(ctx, p, found[0])
}

// record writes what became of an attempt. After a failure the webhook waits.
func (s sender) record(ctx context.Context, r *receiver, d domain.Delivery, a answer) (goOn bool, err error) {
	d.Attempts++
	d.Status, d.Error = a.status, a.err
	switch {
	case a.delivered():
		d.State = "delivered"
		if err = s.save(ctx, d); err == nil && r.failures > 0 {
			r.failures = 0
			err = s.delay(ctx, *r, s.now())
		}
		return true, err
	case a.status == http.StatusGone:
		if err := s.change(ctx, r.tenant, r.id, domain.SubscriptionEnded{Cause: domain.CauseGone}); err != nil {
			return false, err
		}
		d.State = "dropped"
		return false, s.save(ctx, d)
	}
	r.failures++
	now := s.now()
	return false, s.fail(ctx, *r, d, now.Add(max(a.wait, s.backoff(r.failures))), now.Add(-s.GiveUp))
}

// backoff doubles with each failure. A random part keeps receivers from being asked at the same moment.
func (s sender) backoff(failures int) time.Duration {
	delay := min(s.First<<min(failures-1, 16), longestDelay)
	return delay/2 + rand.N(delay)
}
