package subscriptions

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

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

type feedInput struct {
	ID    string        `path:"id" doc:"The id of a subscription."`
	After serve.Integer `query:"after" doc:"Only positions after this one. Default: that of the subscription."`
	serve.Paging
}

func (s subscriptions) feed(ctx context.Context, c *serve.Call, in *feedInput) (*serve.Streamed, error) {
	after := in.After.Read(&c.Found, "after", 0, serve.NoLimit)
	found, err := s.managed(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return s.listEvents(ctx, c, found, max(after, found.After), in.Paging)
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
		By: c.Principal, Events: serve.SplitCommas(in.Events),
		Follow: domain.Following{Scope: domain.Scope(in.Scope), Item: in.Item, Tag: in.Tag, Query: in.Query},
	}.Complete()
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	var item *domain.Knowledge
	if in.Item != "" {
		if item, err = s.events.Items.Reader.Find(ctx, c.Principal.Tenant, in.Item); err != nil {
			return nil, err
		}
	}
	if err := command.MayFollow(func(string) *domain.Knowledge { return item }); err != nil {
		return nil, err
	}
	if in.After == "" && strings.Contains(c.Request.Header.Get("Accept"), serve.StreamType) {
		if after, _, err = s.events.Log.Head(ctx, c.Principal.Tenant); err != nil {
			return nil, err
		}
	}
	return s.listEvents(ctx, c, command.Subscribed(), after, in.Paging)
}

// listEvents answers with the events of a subscription after a position, as the caller may read them.
func (s subscriptions) listEvents(
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
	choose := func(ctx context.Context, from []domain.Event, items map[string]*domain.Knowledge) ([]domain.Event, error) {
		return s.all.Choose(ctx, c.Principal, of, from, items)
	}
	if format == serve.StreamType {
		return s.feeds.Follow(ctx, c, in, query, choose)
	}
	return serve.Listing[api.Event]{
		Name: "events", Columns: serve.EventColumns,
		Query: []any{c.Request.URL.Path, of.Follows, of.Scope, of.Item, of.Tag, of.Query, of.Events, after},
		Page: func(ctx context.Context, place int64, limit int) (items []api.Event, next int64, err error) {
			page := query
			page.After, page.Limit = cmp.Or(place, query.After), limit
			found, next, err := s.events.Finder.Find(ctx, page)
			if err == nil {
				found, err = choose(ctx, found, nil)
			}
			return serve.Map(found, serve.EventOf), next, err
		},
	}.Answer(ctx, c, in)
}
