package http

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// subscriptions answers requests about subscriptions and their deliveries.
type subscriptions struct{ *Server }

const (
	subscriptionsPath = "/v1/subscriptions"
	subscriptionPath  = subscriptionsPath + "/{id}"
)

func (s subscriptions) subscriptionRoutes() {
	tags := []string{"Subscriptions"}
	serve.Handle(s.api, huma.Operation{
		OperationID: "subscribe", Method: http.MethodPost, Path: subscriptionsPath, Tags: tags,
		DefaultStatus: http.StatusCreated, Summary: "Follow a scope, an item, a tag or a search",
		Description: "You become the subscriber, or the entity for which you act. Events after this one are delivered, " +
			"as far as the subscriber may read them at that time. The secret of a webhook is in this answer and nowhere else.",
		RequestBody: serve.JSONBody[api.NewSubscription](s.api, true), Errors: serve.NamedErrors,
	}, s.subscribe)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-subscriptions", Method: http.MethodGet, Path: subscriptionsPath, Tags: tags,
		Summary: "List your subscriptions", Errors: []int{http.StatusBadRequest},
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
			http.MethodPost, subscriptionPath + "/resume", "resume-subscription", "End a pause", "",
			domain.SubscriptionResumed{},
		},
		{
			http.MethodPost, subscriptionPath + "/rotate", "rotate-subscription", "Replace the secret of a webhook",
			"The secret is in this answer and nowhere else. For 24 hours, webhooks are signed by both secrets.",
			domain.SubscriptionRotated{},
		},
	} {
		serve.Handle(s.api, huma.Operation{
			OperationID: change.id, Method: change.method, Path: change.path, Tags: tags, Summary: change.summary,
			Description: change.description, Errors: serve.NamedErrors,
			RequestBody: serve.JSONBody[api.Reason](s.api, false),
		}, s.change(change.to))
	}
	s.feedRoutes(tags)
	s.deliveryRoutes(tags)
	s.digestRoute()
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

func (s subscriptions) kept() (Subscriptions, error) {
	if s.cfg.Subscriptions == nil {
		return nil, domain.Refuse(domain.ErrNotFound, "this server keeps no subscriptions")
	}
	return s.cfg.Subscriptions, nil
}

func (s subscriptions) subscribe(ctx context.Context, c *serve.Call, _ *struct{}) (*subscriptionOutput, error) {
	given, body, err := serve.ReadBody[api.NewSubscription](c)
	if err != nil {
		return nil, err
	}
	kept, err := s.kept()
	if err != nil {
		return nil, err
	}
	command, err := domain.Subscribe{
		By: c.Principal, ID: serve.NewID(), Events: given.Events, Webhook: given.Webhook != "", URL: given.Webhook,
		Note:   given.Note,
		Follow: domain.Following{Scope: domain.Scope(given.Scope), Item: given.Item, Tag: given.Tag, Query: given.Query},
	}.Complete()
	if given.Webhook != "" {
		if wrong := kept.CheckURL(given.Webhook); wrong != "" {
			c.Found.Add("webhook", "%s", wrong)
		}
	}
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	secret := ""
	if command.Webhook { // before the subscription, so that none is without a secret
		if secret, err = kept.Secret(ctx, c.Principal.Tenant, command.ID, 0); err != nil {
			return nil, err
		}
	}
	receipt, err := s.api.Writer.Submit(ctx, c.Submission(command, body))
	if err == nil && receipt.Stream.Name != command.Stream() { // a replay
		secret = ""
	}
	if command.Webhook && secret == "" || err != nil && serve.AnswerTo(err).Status < http.StatusInternalServerError {
		if left := kept.Forget(ctx, c.Principal.Tenant, command.ID); err == nil {
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
		Position: fmt.Sprint(receipt.Position), Outcome: receipt.Outcome, Redacted: serve.RedactedOf(receipt),
	}
	if receipt.Replayed {
		out.Replayed = "true"
	}
	out.Body, err = s.find(ctx, c, &subscriptionInput{domain.SubscriptionID(receipt.Stream.Name)})
	out.Body.Secret = secret
	return out, err
}

// managed finds a subscription that the caller may manage.
func (s subscriptions) managed(
	ctx context.Context, c *serve.Call, id string,
) (Subscriptions, domain.Subscribed, error) {
	kept, err := s.kept()
	if err != nil {
		return nil, domain.Subscribed{}, err
	}
	found, err := kept.Find(ctx, c.Principal.Tenant, id)
	if err == nil && !found.Managed(c.Principal) {
		err = domain.NoSubscription()
	}
	return kept, found, err
}

func (s subscriptions) find(
	ctx context.Context, c *serve.Call, in *subscriptionInput,
) (out api.Subscription, err error) {
	kept, found, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return out, err
	}
	out = subscriptionOf(found)
	if found.Webhook {
		out.Deliveries, err = kept.Counts(ctx, c.Principal.Tenant, in.ID)
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
	kept, err := s.kept()
	if err != nil {
		return out, err
	}
	all, err := kept.List(ctx, c.Principal.Tenant, of)
	for _, one := range all {
		if one.EndedAt.IsZero() || ended != nil && *ended {
			out.Items = append(out.Items, subscriptionOf(one))
		}
	}
	return out, err
}

// overlap is how long a replaced secret signs besides the new one.
const overlap = 24 * time.Hour

func (s subscriptions) change(to domain.Fact) serve.Operation[subscriptionInput, subscriptionOutput] {
	return func(ctx context.Context, c *serve.Call, in *subscriptionInput) (*subscriptionOutput, error) {
		given, body, err := serve.ReadAny[api.Reason](c)
		if err != nil {
			return nil, err
		}
		kept, found, err := s.managed(ctx, c, in.ID)
		if err != nil {
			return nil, err
		}
		command := domain.ChangeSubscription{By: c.Principal, ID: in.ID, To: to, Reason: given.Reason}
		receipt, err := c.Submit(ctx, command, command.Validate(), body)
		if err != nil {
			return nil, err
		}
		secret := ""
		switch to.(type) {
		case domain.SubscriptionRotated:
			if !receipt.Replayed {
				secret, err = kept.Secret(ctx, c.Principal.Tenant, found.ID, overlap)
			}
		case domain.SubscriptionEnded:
			err = kept.Forget(ctx, c.Principal.Tenant, found.ID)
		case domain.SubscriptionResumed:
			err = kept.Resume(ctx, c.Principal.Tenant, found.ID)
		}
		return s.answer(ctx, c, receipt, secret, err)
	}
}

// RightsOf tells which rights a subscriber has now, by the directory and the key with which the subscription was made,
// or the key that replaced it. A subscription that was made with a token has the rights of the directory.
func RightsOf(cfg Config) func(ctx context.Context, tenant string, s domain.Subscription) (domain.Principal, error) {
	return identities{cfg: cfg.withDefaults()}.rights
}

func (s identities) rights(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error) {
	actor := of.Subscriber
	if of.By != "" {
		actor = of.By
	}
	p := domain.Principal{Tenant: tenant, Subject: actor, Role: domain.Member, Authentication: of.Authentication}
	prefix, keyed := strings.CutPrefix(of.Authentication, "key:")
	switch {
	case keyed && prefix == "root":
		if p = rootPrincipal(); s.cfg.RootKey == "" {
			return p, wrongKey()
		}
		p.Tenant, p.Subject = tenant, actor
	case keyed:
		key, err := s.keyNow(ctx, prefix)
		if err != nil {
			return p, err
		}
		if of.By != "" && !key.ActsFor {
			return p, wrongKey()
		}
		p = key.Principal(tenant, prefix)
	case of.Authentication == domain.OpenAuthentication:
		if open, err := s.isOpen(ctx); err != nil || !open {
			return p, cmp.Or(err, wrongKey())
		}
		p = domain.OpenPrincipal()
		p.Subject = actor
	}
	if of.By != "" {
		p.OnBehalfOf = of.Subscriber
	}
	p, err := s.withDirectory(ctx, p)
	if err == nil && domain.CheckActsFor(p) != nil { // the key may not act for the subscriber any more
		err = wrongKey()
	}
	return p, err
}

// keyNow is the valid key that has a prefix, or that replaced it.
func (s identities) keyNow(ctx context.Context, prefix string) (key domain.Key, err error) {
	const mostRotations = 1000
	for range mostRotations {
		if s.cfg.Keys == nil {
			return key, wrongKey()
		}
		_, key, err = s.cfg.Keys.Key(ctx, prefix)
		switch invalid := key.CheckValid(s.cfg.Now()); {
		case domain.IsGone(err):
			return key, wrongKey()
		case err != nil || invalid == nil:
			return key, err
		case key.ReplacedBy == "" || !key.RevokedAt.IsZero():
			return key, invalid
		}
		prefix = key.ReplacedBy
	}
	return key, wrongKey()
}
