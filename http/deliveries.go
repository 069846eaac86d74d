package http

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

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
		Summary: "Make all dead deliveries again", Errors: []int{http.StatusConflict, http.StatusNotFound},
	}, func(ctx context.Context, c *serve.Call, in *subscriptionInput) (*serve.Output[api.Replay], error) {
		return s.replay(ctx, c, &replayInput{ID: in.ID})
	})
	serve.Handle(s.api, huma.Operation{
		OperationID: "replay-delivery", Method: http.MethodPost, Path: subscriptionPath + "/deliveries/{event_id}/replay",
		Tags: tags, Summary: "Make a delivery again", Errors: []int{http.StatusConflict, http.StatusNotFound},
	}, s.replay)
}

// webhook finds a webhook that has not ended, and that the caller may manage.
func (s subscriptions) webhook(
	ctx context.Context, c *serve.Call, id string,
) (Subscriptions, domain.Subscribed, error) {
	if err := c.Found.Err(); err != nil {
		return nil, domain.Subscribed{}, err
	}
	kept, found, err := s.managed(ctx, c, id)
	switch {
	case err != nil:
	case !found.Webhook:
		err = domain.Refuse(domain.ErrConflict, "the subscription has no webhook: its events are read from its feed")
	case !found.EndedAt.IsZero():
		err = domain.Refuse(domain.ErrConflict, "the subscription has ended").WithFix("make another")
	}
	return kept, found, err
}

func (s subscriptions) test(
	ctx context.Context, c *serve.Call, in *subscriptionInput,
) (*serve.Output[api.WebhookTest], error) {
	kept, found, err := s.webhook(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if wait := s.pings.take(callerOf(c.Principal), c.Now); wait > 0 {
		return nil, serve.ComeAgain(wait, "at most %d tests of webhooks at once, and then one in ten seconds", s.pings.burst)
	}
	pong, err := kept.Ping(ctx, c.Principal.Tenant, found)
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
	kept, _, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return serve.Listing[api.Delivery]{
		Name: "deliveries", Asked: []any{c.Request.URL.Path, in.State}, Columns: deliveryColumns,
		Page: func(ctx context.Context, place int64, limit int) (items []api.Delivery, next int64, err error) {
			found, err := kept.Deliveries(ctx, c.Principal.Tenant, in.ID, domain.DeliveryQuery{
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
	kept, found, err := s.webhook(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	n, err := kept.Replay(ctx, c.Principal.Tenant, found.ID, in.EventID)
	if err == nil && n == 0 && in.EventID != "" {
		err = domain.Refuse(domain.ErrConflict, "the event has no delivery to this webhook")
	}
	return &serve.Output[api.Replay]{Body: api.Replay{Replayed: n}}, err
}

func (s subscriptions) feedRoutes(tags []string) {
	const feeds = "As a page of JSON, or as a stream with Accept: text/event-stream, which Last-Event-ID resumes. The " +
		"stream goes on as the log does. Each event is as you may read it now. The readers of a deleted item learn that it " +
		"was deleted, but not what the event says."
	serve.Handle(s.api, huma.Operation{
		OperationID: "read-feed", Method: http.MethodGet, Path: subscriptionPath + "/events", Tags: tags,
		Summary: "Read the events of a subscription", Description: feeds,
		Parameters: []*huma.Param{serve.Parameter("Last-Event-ID")},
		Responses:  serve.Listed[api.Event](s.api, serve.StreamType),
		Errors:     []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
	}, s.feed)
	serve.Handle(s.api, huma.Operation{
		OperationID: "watch", Method: http.MethodGet, Path: "/v1/watch", Tags: tags,
		Summary:     "Follow a scope, an item, a tag or a search without a subscription",
		Description: feeds, Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
		Parameters: []*huma.Param{serve.Parameter("Last-Event-ID")},
		Responses:  serve.Listed[api.Event](s.api, serve.StreamType),
	}, s.watch)
}

// digestRoute is among the reports.
func (s subscriptions) digestRoute() {
	schema := s.api.Huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Digest](), true, "")
	serve.Handle(s.api, huma.Operation{
		OperationID: "digest", Method: http.MethodGet, Path: reportPath + "digest", Tags: []string{"Reports"},
		Summary: "Sum up what happened in a scope",
		Description: "What is new, changed, doubted, superseded, deleted, helpful, and contested or waiting for a review " +
			"now, as JSON or " + markdownType + ". You see what you may read. At most 20,000 events are counted.",
		Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
		Responses: map[string]*huma.Response{"200": {Description: "The digest", Content: map[string]*huma.MediaType{
			serve.JSONType: {Schema: schema}, markdownType: {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, s.digest)
}

type feedInput struct {
	ID    string        `path:"id" doc:"The id of a subscription."`
	After serve.Integer `query:"after" doc:"Only positions after this one. Default: that of the subscription."`
	serve.Paging
}

func (s subscriptions) feed(ctx context.Context, c *serve.Call, in *feedInput) (*serve.Streamed, error) {
	after := in.After.Read(&c.Found, "after", 0, serve.NoLimit)
	_, found, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return s.events(ctx, c, found, max(after, found.After), in.Paging)
}

type watchInput struct {
	Scope  string        `query:"scope" example:"team:pay" doc:"The items that reach this scope."`
	Item   string        `query:"item" doc:"The item with this id."`
	Tag    string        `query:"tag" doc:"The items with this tag: key=value, or a label."`
	Query  string        `query:"query" doc:"The items whose task, content, abstract or tags contain all these words, in any form."`
	Events []string      `query:"events,explode" doc:"As in a subscription: remembered, revised and so on."`
	After  serve.Integer `query:"after" doc:"Only positions after this one. Default: from now on for a stream, from the beginning for a page."`
	serve.Paging
}

func (s subscriptions) watch(ctx context.Context, c *serve.Call, in *watchInput) (*serve.Streamed, error) {
	after := in.After.Read(&c.Found, "after", 0, serve.NoLimit)
	command, err := domain.Subscribe{
		By: c.Principal, Events: splitCommas(in.Events),
		Follow: domain.Following{Scope: domain.Scope(in.Scope), Item: in.Item, Tag: in.Tag, Query: in.Query},
	}.Complete()
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	if _, err := s.kept(); err != nil {
		return nil, err
	}
	var item *domain.Knowledge
	if in.Item != "" {
		if item, err = s.cfg.Reader.Find(ctx, c.Principal.Tenant, in.Item); err != nil {
			return nil, err
		}
	}
	if err := command.MayFollow(func(string) *domain.Knowledge { return item }); err != nil {
		return nil, err
	}
	if in.After == "" && strings.Contains(c.Request.Header.Get("Accept"), serve.StreamType) {
		if after, _, err = s.cfg.Historian.Head(ctx, c.Principal.Tenant); err != nil {
			return nil, err
		}
	}
	return s.events(ctx, c, command.Subscribed(), after, in.Paging)
}

// events answers with the events of a subscription after a position, as the caller may read them.
func (s subscriptions) events(
	ctx context.Context, c *serve.Call, of domain.Subscribed, after int64, in serve.Paging,
) (*serve.Streamed, error) {
	format, err := c.Accepts(serve.JSONType, serve.LinesType, serve.CsvType, serve.StreamType)
	if err != nil {
		return nil, err
	}
	query := domain.EventQuery{Tenant: c.Principal.Tenant, Names: of.Names(), After: after}
	if of.Item != "" && !slices.Contains(of.Names(), domain.ReviewProposed{}.Name()) { // which has another stream
		query.Stream = domain.KnowledgeStream(of.Item)
	}
	choose := func(ctx context.Context, from []domain.Event, items itemsByID) ([]domain.Event, error) {
		return s.cfg.Subscriptions.Choose(ctx, c.Principal, of, from, items)
	}
	if format == serve.StreamType {
		return s.follow(ctx, c, &eventsInput{Paging: in}, query, choose)
	}
	return serve.Listing[api.Event]{
		Name: "events", Columns: serve.EventColumns,
		Asked: []any{c.Request.URL.Path, of.Follows, of.Scope, of.Item, of.Tag, of.Query, of.Events, after},
		Page: func(ctx context.Context, place int64, limit int) (items []api.Event, next int64, err error) {
			asked := query
			asked.After, asked.Limit = cmp.Or(place, query.After), limit
			found, next, err := s.cfg.Finder.Find(ctx, asked)
			if err == nil {
				found, err = choose(ctx, found, nil)
			}
			return serve.Map(found, serve.EventOf), next, err
		},
	}.Answer(ctx, c, in)
}

type digestInput struct {
	Scope string       `query:"scope" required:"true" example:"team:pay" doc:"A scope such as team:pay or public."`
	Since serve.Moment `query:"since" doc:"Recorded at or after this time or date. Default: seven days ago."`
	Until serve.Moment `query:"until" doc:"Recorded before it. Default: now."`
}

const markdownType = "text/markdown"

// digest sums up what happened in a scope, as JSON or as Markdown.
func (s subscriptions) digest(ctx context.Context, c *serve.Call, in *digestInput) (*serve.Streamed, error) {
	const usual = 7 * 24 * time.Hour
	format, err := c.Accepts(serve.JSONType, markdownType)
	if err != nil {
		return nil, err
	}
	q := domain.DigestQuery{By: c.Principal, Scope: domain.Scope(in.Scope)}
	if _, err := domain.ParseScope(in.Scope); err != nil {
		c.Found.Add("scope", "%s", err)
	}
	q.From, q.To = between(&c.Found, "since", in.Since, "until", in.Until)
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if q.To.IsZero() {
		q.To = c.Now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-usual)
	}
	kept, err := s.kept()
	if err != nil {
		return nil, err
	}
	found, err := kept.Digest(ctx, q)
	if err != nil {
		return nil, err
	}
	reviews := domain.ReviewQuery{Tenant: c.Principal.Tenant, Scope: q.Scope, Limit: domain.MostDigested}
	if !c.Principal.SeesAll() {
		reviews.Only = &c.Principal
	}
	waiting, err := s.cfg.Reporter.Review(ctx, reviews)
	if err != nil {
		return nil, err
	}
	filter := domain.Filter{Scope: q.Scope, Contested: new(true)}
	list := domain.List{By: c.Principal, Filter: filter, Limit: domain.MostDigested}
	contested, err := s.cfg.Reader.List(ctx, list)
	if err != nil {
		return nil, err
	}
	counts, err := s.cfg.Reader.Count(ctx, c.Principal, filter)
	if err != nil {
		return nil, err
	}
	out := digestOf(q, found, waiting)
	out.Contested.Total = counts.Items
	for _, k := range contested.Items {
		item := api.DigestItem{ID: k.ID, Title: domain.TitleOf(k), Count: k.Harmful + k.Stale.Reporters}
		out.Contested.Items = append(out.Contested.Items, item)
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		if format == serve.JSONType {
			to.SetHeader("Content-Type", serve.JSONType)
			to.SetStatus(http.StatusOK)
			serve.WriteJSON(to.BodyWriter(), out)
			return
		}
		to.SetHeader("Content-Type", markdownType+"; charset=utf-8")
		to.SetStatus(http.StatusOK)
		_, _ = to.BodyWriter().Write(out.Markdown()) // the caller left
	}}, nil
}

func digestOf(q domain.DigestQuery, d domain.ScopeDigest, waiting domain.ReviewPage) api.Digest {
	section := func(name string) api.DigestSection {
		of := d.Sections[name]
		return api.DigestSection{Total: of.Total, Items: serve.Map(of.Items, func(i domain.DigestItem) api.DigestItem {
			return api.DigestItem{ID: i.ID, Title: i.Title, Count: i.Count, Last: serve.Time(i.Last), By: i.By}
		})}
	}
	out := api.Digest{
		Scope: string(q.Scope), Since: q.From.UTC(), Until: q.To.UTC(), Events: d.Events, More: d.More,
		New: section(domain.DigestNew), Changed: section(domain.DigestChanged), Doubted: section(domain.DigestDoubted),
		Contested:  api.DigestSection{Items: []api.DigestItem{}},
		Superseded: section(domain.DigestSuperseded), Deleted: section(domain.DigestDeleted),
		Helpful: section(domain.DigestHelpful),
		Waiting: api.DigestSection{Total: waiting.Total, Items: []api.DigestItem{}},
	}
	for _, r := range waiting.Items {
		item := api.DigestItem{ID: r.Item.ID, Title: domain.TitleOf(r.Item), Count: len(r.Reasons)}
		if len(r.Reasons) > 0 {
			item.Last = serve.Time(r.Reasons[0].Since)
		}
		out.Waiting.Items = append(out.Waiting.Items, item)
	}
	return out
}
