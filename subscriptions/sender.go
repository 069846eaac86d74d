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
	mostReceivers = 16               // that are posted to at the same time
	roundTime     = 15 * time.Second // for which a round posts to one receiver
	longestDelay  = time.Hour        // between two attempts
	pausedFor     = time.Minute      // until a paused subscription is looked at again
)

// Run posts what is due until ctx ends. Of the processes that share the database, one posts at a time. A delivery whose
// process was killed is posted again, with the same id.
func (s *Subscriptions) Run(ctx context.Context) { sender{s}.run(ctx) }

// sender posts what is due.
type sender struct{ *Subscriptions }

func (s sender) run(ctx context.Context) {
	const interval = time.Second
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
	return s.Log.RunExclusively(ctx, "webhooks", func(ctx context.Context) error {
		for {
			due, err := s.receivers(ctx)
			if err != nil || len(due) == 0 {
				return err
			}
			if err := s.round(ctx, due); err != nil {
				return err
			}
		}
	})
}

// round posts to several receivers at once, so that a slow one delays no other one for long.
func (s sender) round(ctx context.Context, due []receiver) error {
	var posting sync.WaitGroup
	errs := make([]error, len(due))
	for i, r := range due {
		posting.Go(func() { errs[i] = s.postAll(database.ForTenant(ctx, r.tenant), r) })
	}
	posting.Wait()
	return errors.Join(errs...)
}

// postAll posts the pending deliveries of a webhook in the order of the log, until one fails or the time is over.
func (s sender) postAll(ctx context.Context, r receiver) error {
	for until := s.now().Add(roundTime); s.now().Before(until); {
		due, err := s.Deliveries(ctx, r.tenant, r.id, domain.DeliveryQuery{State: "pending", OldestFirst: true, Limit: 20})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, d := range due {
			if goOn, err := s.deliver(ctx, &r, d); err != nil || !goOn {
				return err
			}
		}
	}
	return s.delay(ctx, r, s.now()) // behind those that wait
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
	found, _, err := s.Log.Find(ctx, domain.EventQuery{Tenant: d.Tenant, After: d.Position - 1, Limit: 1})
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
