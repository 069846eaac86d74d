package serve

import (
	"context"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/egress"
	httpserve "github.com/annals-kb/annals/http/serve"
	httpsubscriptions "github.com/annals-kb/annals/http/subscriptions"
	"github.com/annals-kb/annals/projections/subscriptions"
)

// openWebhooks delivers events to subscribers. It offers the digests of what happened.
func openWebhooks(_ context.Context, c *core) (part, error) {
	all := subscriptions.New(subscriptions.Options{
		DB: c.db, Log: c.log, Followers: c.followers, Writer: c.entrance, Items: c.knowledge.Browser, Logger: c.logger,
		Client: egress.Client(c.cfg.FetchPrivate, 15*time.Second), Refused: egress.ErrPrivate,
		Check: func(address string) string { return egress.CheckURL(address, c.cfg.FetchPrivate) },
		Show:  func(e domain.Event) any { return httpserve.EventOf(e) },
	})
	all.Rights = func(ctx context.Context, tenant string, s domain.Subscription) (domain.Principal, error) {
		return c.api.Callers.RightsOf(ctx, tenant, s)
	}
	c.registry.MustRegister(subscriptions.Gauges{Subscriptions: all})
	return part{
		follow: []func(*message.Router){all.Follow}, run: []func(context.Context){all.Run}, offers: []any{all},
		rooms: []annalshttp.Room{httpsubscriptions.Room{Subscriptions: all, Feeds: c.feeds}},
	}, nil
}
