package subscriptions

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s subscriptions) deliveryRoutes(tags []string) {
	serve.Handle(s.api, huma.Operation{
		OperationID: "test-subscription", Method: http.MethodPost, Path: subscriptionPath + "/test", Tags: tags,
		Summary: "Post a ping to a webhook now", Description: "It is of the type annals.ping, without contents.",
		Errors: []int{http.StatusConflict, http.StatusNotFound},
	}, s.test)
	serve.Handle(s.api, huma.Operation{
		OperationID: "list-deliveries", Method: http.MethodGet, Path: subscriptionPath + "/deliveries", Tags: tags,
		Summary:     "List the deliveries of a webhook",
		Description: "The newest event first. Finished deliveries are listed for 30 days. They hold no text.",
		Errors:      []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
		Responses:   serve.Listed[api.Delivery](s.api),
	}, s.deliveries)
	serve.Handle(s.api, huma.Operation{
		OperationID: "replay-deliveries", Method: http.MethodPost, Path: subscriptionPath + "/replay", Tags: tags,
		Summary:     "Make all dead deliveries again",
		Description: "Dead are those that failed for good. The answer counts them.",
		Errors:      []int{http.StatusConflict, http.StatusNotFound},
	}, func(ctx context.Context, c *serve.Call, in *subscriptionInput) (*serve.Output[api.Replay], error) {
		return s.replay(ctx, c, &replayInput{ID: in.ID})
	})
	serve.Handle(s.api, huma.Operation{
		OperationID: "replay-delivery", Method: http.MethodPost, Path: subscriptionPath + "/deliveries/{event_id}/replay",
		Tags: tags, Summary: "Make a delivery again",
		Description: "Whatever its state. If the event has no delivery to this webhook, the answer is 409.",
		Errors:      []int{http.StatusConflict, http.StatusNotFound},
	}, s.replay)
}

// webhook finds a webhook that has not ended, and that the caller may manage.
func (s subscriptions) webhook(ctx context.Context, c *serve.Call, id string) (domain.Subscribed, error) {
	if err := c.Found.Err(); err != nil {
		return domain.Subscribed{}, err
	}
	found, err := s.managed(ctx, c, id)
	switch {
	case err != nil:
	case !found.Webhook:
		err = domain.Refuse(domain.ErrConflict, "the subscription has no webhook: its events are read from its feed")
	case !found.EndedAt.IsZero():
		err = domain.Refuse(domain.ErrConflict, "the subscription has ended").WithFix("make another")
	}
	return found, err
}

func (s subscriptions) test(
	ctx context.Context, c *serve.Call, in *subscriptionInput,
) (*serve.Output[api.WebhookTest], error) {
	found, err := s.webhook(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if wait := s.pings.Take(serve.SubjectOf(c.Principal), c.Now); wait > 0 {
		return nil, serve.ComeAgain(wait, "at most %d tests of webhooks at once, and then one in ten seconds", s.pings.Burst)
	}
	pong, err := s.all.Ping(ctx, c.Principal.Tenant, found)
	return &serve.Output[api.WebhookTest]{Body: api.WebhookTest(pong)}, err
}

type deliveriesInput struct {
	ID    string `path:"id" doc:"The id of a subscription."`
	State string `query:"state" enum:"pending,delivered,dead,dropped" doc:"All if left out."`
	serve.Paging
}

var deliveryColumns = serve.ColumnsOf[api.Delivery]("event_id position state attempts status error since next_at")

func (s subscriptions) deliveries(ctx context.Context, c *serve.Call, in *deliveriesInput) (*serve.Streamed, error) {
	if in.State != "" && !slices.Contains(domain.DeliveryStates, in.State) {
		c.Found.Add("state", "must be one of %s", strings.Join(domain.DeliveryStates, ", "))
	}
	_, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return serve.Listing[api.Delivery]{
		Name: "deliveries", Query: []any{c.Request.URL.Path, in.State}, Columns: deliveryColumns,
		Page: func(ctx context.Context, place int64, limit int) (items []api.Delivery, next int64, err error) {
			found, err := s.all.Deliveries(ctx, c.Principal.Tenant, in.ID, domain.DeliveryQuery{
				State: in.State, Before: place, Limit: limit + 1,
			})
			if len(found) > limit {
				found = found[:limit]
				next = found[limit-1].Position
			}
			return serve.Map(found, deliveryOf), next, err
		},
	}.Answer(ctx, c, in.Paging)
}

func deliveryOf(d domain.Delivery) api.Delivery {
	out := api.Delivery{
		EventID: d.EventID, Position: d.Position, State: d.State, Attempts: d.Attempts, Status: d.Status, Error: d.Error,
		Since: serve.Time(d.At),
	}
	if d.State == "pending" {
		out.NextAt = serve.Time(d.NextAt)
	}
	return out
}

type replayInput struct {
	ID      string `path:"id" doc:"The id of a subscription."`
	EventID string `path:"event_id" doc:"The id of the event."`
}

func (s subscriptions) replay(ctx context.Context, c *serve.Call, in *replayInput) (*serve.Output[api.Replay], error) {
	found, err := s.webhook(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	n, err := s.all.Replay(ctx, c.Principal.Tenant, found.ID, in.EventID)
	if err == nil && n == 0 && in.EventID != "" {
		err = domain.Refuse(domain.ErrConflict, "the event has no delivery to this webhook")
	}
	return &serve.Output[api.Replay]{Body: api.Replay{Replayed: n}}, err
}
