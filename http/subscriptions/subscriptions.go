package subscriptions

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Subscriptions delivers events to subscribers.
type Subscriptions interface {
	// Find is a subscription of a tenant. The error matches domain.ErrNotFound if there is none.
	Find(ctx context.Context, tenant, id string) (domain.Subscribed, error)
	// List lists the subscriptions of a tenant, or of one subscriber, oldest first.
	List(ctx context.Context, tenant string, of domain.Entity) ([]domain.Subscribed, error)
	// Choose are those of some events that a subscription delivers to p, as p may read them now. It reads the items that
	// it is not given.
	Choose(
		ctx context.Context, p domain.Principal, to domain.Subscribed, from []domain.Event,
		items map[string]*domain.Knowledge,
	) ([]domain.Event, error)
	// CheckURL describes why nothing is posted to a URL; empty if it can be tried.
	CheckURL(address string) string
	// Secret makes a secret for a webhook, and keeps it. The one before it stays valid for the overlap.
	Secret(ctx context.Context, tenant, id string, overlap time.Duration) (secret string, err error)
	// Forget drops the secret and the pending deliveries of a subscription.
	Forget(ctx context.Context, tenant, id string) error
	// Ping posts an event without contents to a webhook now.
	Ping(ctx context.Context, tenant string, to domain.Subscribed) (domain.Pong, error)
	// Deliveries lists deliveries of a subscription.
	Deliveries(ctx context.Context, tenant, id string, q domain.DeliveryQuery) ([]domain.Delivery, error)
	// Counts are the numbers of a subscription's deliveries, by state.
	Counts(ctx context.Context, tenant, id string) (map[string]int64, error)
	// Replay makes deliveries again: that of an event, whatever its state, or all dead ones.
	Replay(ctx context.Context, tenant, id, eventID string) (replayed int64, err error)
	// Resume lets pending deliveries be posted at once.
	Resume(ctx context.Context, tenant, id string) error
}

// subscriptions answers requests about subscriptions and their deliveries.
type subscriptions struct {
	api    *serve.API
	all    Subscriptions
	events visible.Events
	feeds  *record.Feeds
	pings  *serve.Limiter // tests of webhooks
}

const (
	subscriptionsPath = "/v1/subscriptions"
	subscriptionPath  = subscriptionsPath + "/{id}"
)

// Room is the operations on subscriptions, which may be nil. The feeds are those of the log.
type Room struct {
	Subscriptions Subscriptions
	Feeds         *record.Feeds
}

// Routes registers the operations.
func (r Room) Routes(a *serve.API, events visible.Events) {
	s := subscriptions{
		a.Requiring(r.Subscriptions, "this server keeps no subscriptions"), r.Subscriptions, events, r.Feeds,
		serve.NewLimiter(.1, 5),
	}
	tags := a.Tags("Subscriptions", "Follow what happens, by a feed or a webhook.")
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "subscribe", Method: http.MethodPost, Path: subscriptionsPath, Tags: tags,
		DefaultStatus: http.StatusCreated, Summary: "Follow a scope, an item, a tag or a search",
		Description: "You become the subscriber, or the entity for which you act. Events after this one are delivered, " +
			"as far as the subscriber may read them at that time. The secret of a webhook is in this answer and nowhere else.",
	}, s.subscribe)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-subscriptions", Method: http.MethodGet, Path: subscriptionsPath, Tags: tags,
		Summary:     "List your subscriptions",
		Description: "Those that you or the entity for which you act subscribed to, with their state.",
		Errors:      []int{http.StatusBadRequest},
	}, s.list)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "find-subscription", Method: http.MethodGet, Path: subscriptionPath, Tags: tags,
		Summary: "Read a subscription", Description: "For its subscriber and for admins, as all that follows.",
		Errors: []int{http.StatusNotFound},
	}, s.find)
	for _, change := range []struct {
		method, path, id, summary, description string
		to                                     domain.Fact
	}{
		{
			http.MethodDelete, subscriptionPath, "end-subscription", "End a subscription",
			"What is pending is dropped.",
			domain.SubscriptionEnded{Cause: domain.CauseAsked},
		},
		{
			http.MethodPost, subscriptionPath + "/pause", "pause-subscription", "Pause a subscription",
			"Pending deliveries wait. Events during the pause are not delivered to a webhook later.",
			domain.SubscriptionPaused{Cause: domain.CauseAsked},
		},
		{
			http.MethodPost, subscriptionPath + "/resume", "resume-subscription", "End a pause",
			"Events from now on are delivered again, and pending deliveries go on.",
			domain.SubscriptionResumed{},
		},
		{
			http.MethodPost, subscriptionPath + "/rotate", "rotate-subscription", "Replace the secret of a webhook",
			"The secret is in this answer and nowhere else. For 24 hours, webhooks are signed by both secrets.",
			domain.SubscriptionRotated{},
		},
	} {
		serve.HandleBody(s.api, false, huma.Operation{
			OperationID: change.id, Method: change.method, Path: change.path, Tags: tags, Summary: change.summary,
			Description: change.description,
		}, s.change(change.to))
	}
	s.feedRoutes(tags)
	s.deliveryRoutes(tags)
}

type subscriptionInput struct {
	ID string `path:"id" doc:"The id of a subscription."`
}

type subscriptionOutput struct {
	Position string `header:"Annals-Position" doc:"Of the newest event."`
	Outcome  string `header:"Annals-Outcome" enum:"created,recorded,unchanged" doc:"What the write did."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before; then the secret is not shown again."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded."`
	Body     api.Subscription
}

func (s subscriptions) subscribe(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.NewSubscription,
) (*subscriptionOutput, error) {
	command, err := domain.Subscribe{
		By: c.Principal, ID: serve.NewID(), Events: body.Events, Webhook: body.Webhook != "", URL: body.Webhook,
		Note:   body.Note,
		Follow: domain.Following{Scope: domain.Scope(body.Scope), Item: body.Item, Tag: body.Tag, Query: body.Query},
	}.Complete()
	if body.Webhook != "" {
		if wrong := s.all.CheckURL(body.Webhook); wrong != "" {
			c.Found.Add("webhook", "%s", wrong)
		}
	}
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	secret := ""
	if command.Webhook { // before the subscription, so that none is without a secret
		if secret, err = s.all.Secret(ctx, c.Principal.Tenant, command.ID, 0); err != nil {
			return nil, err
		}
	}
	receipt, err := s.api.Writer.Submit(ctx, c.Submission(command))
	if err == nil && receipt.Stream.Name != command.Stream() { // a replay
		secret = ""
	}
	if command.Webhook && secret == "" || err != nil && serve.AnswerTo(err).Status < http.StatusInternalServerError {
		if left := s.all.Forget(ctx, c.Principal.Tenant, command.ID); err == nil {
			err = left
		}
	}
	return s.answer(ctx, c, receipt, secret, err)
}

// answer answers a write with the subscription after it.
func (s subscriptions) answer(
	ctx context.Context, c *serve.Call, receipt domain.Receipt, secret string, err error,
) (*subscriptionOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &subscriptionOutput{
		Position: fmt.Sprint(receipt.Position), Outcome: receipt.Outcome, Redacted: domain.Redactions(receipt.Redacted),
	}
	if receipt.Replayed {
		out.Replayed = "true"
	}
	out.Body, err = s.find(ctx, c, &subscriptionInput{domain.SubscriptionStreams.ID(receipt.Stream.Name)})
	out.Body.Secret = secret
	return out, err
}

// managed finds a subscription that the caller may manage.
func (s subscriptions) managed(ctx context.Context, c *serve.Call, id string) (domain.Subscribed, error) {
	found, err := s.all.Find(ctx, c.Principal.Tenant, id)
	if err == nil && !found.Managed(c.Principal) {
		err = domain.NoSubscription()
	}
	return found, err
}

func (s subscriptions) find(
	ctx context.Context, c *serve.Call, in *subscriptionInput,
) (out api.Subscription, err error) {
	found, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return out, err
	}
	out = subscriptionOf(found)
	if found.Webhook {
		out.Deliveries, err = s.all.Counts(ctx, c.Principal.Tenant, in.ID)
	}
	return out, err
}

func subscriptionOf(s domain.Subscribed) api.Subscription {
	out := api.Subscription{
		ID: s.ID, Subscriber: string(s.Subscriber), By: string(s.By), State: "active", Cause: s.Cause, Scope: string(s.Scope),
		Item: s.Item, Tag: s.Tag, Query: s.Query, Events: append([]string{}, s.Events...), Webhook: s.URL, Note: s.Note,
		CreatedAt: serve.Time(s.CreatedAt), PausedAt: serve.Time(s.PausedAt), EndedAt: serve.Time(s.EndedAt),
		RotatedAt: serve.Time(s.RotatedAt),
	}
	switch {
	case !s.EndedAt.IsZero():
		out.State = "ended"
	case !s.PausedAt.IsZero():
		out.State = "paused"
	}
	return out
}

type subscriptionsInput struct {
	All   serve.Boolean `query:"all" doc:"true: those of all subscribers; for admins."`
	Ended serve.Boolean `query:"ended" doc:"true: also those that have ended."`
}

func (s subscriptions) list(
	ctx context.Context, c *serve.Call, in *subscriptionsInput,
) (out api.Subscriptions, err error) {
	out.Items = []api.Subscription{}
	of := c.Principal.EffectiveSubject()
	ended := in.Ended.Read(&c.Found, "ended")
	if all := in.All.Read(&c.Found, "all"); all != nil && *all {
		if of = ""; !c.Principal.IsTenantAdmin() {
			return out, domain.Refuse(domain.ErrForbidden, "the subscriptions of all are for admins, in person")
		}
	}
	if err := c.Found.Err(); err != nil {
		return out, err
	}
	found, err := s.all.List(ctx, c.Principal.Tenant, of)
	for _, one := range found {
		if one.EndedAt.IsZero() || ended != nil && *ended {
			out.Items = append(out.Items, subscriptionOf(one))
		}
	}
	return out, err
}

// overlap is how long a replaced secret signs besides the new one.
const overlap = 24 * time.Hour

func (s subscriptions) change(
	to domain.Fact,
) func(context.Context, *serve.Call, *subscriptionInput, api.Reason) (*subscriptionOutput, error) {
	return func(ctx context.Context, c *serve.Call, in *subscriptionInput, body api.Reason) (*subscriptionOutput, error) {
		found, err := s.managed(ctx, c, in.ID)
		if err != nil {
			return nil, err
		}
		command := domain.ChangeSubscription{By: c.Principal, ID: in.ID, To: to, Reason: body.Reason}
		receipt, err := c.Do(ctx, command)
		if err != nil {
			return nil, err
		}
		secret := ""
		switch to.(type) {
		case domain.SubscriptionRotated:
			if !receipt.Replayed {
				secret, err = s.all.Secret(ctx, c.Principal.Tenant, found.ID, overlap)
			}
		case domain.SubscriptionEnded:
			err = s.all.Forget(ctx, c.Principal.Tenant, found.ID)
		case domain.SubscriptionResumed:
			err = s.all.Resume(ctx, c.Principal.Tenant, found.ID)
		}
		return s.answer(ctx, c, receipt, secret, err)
	}
}
