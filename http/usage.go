package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func usageOf(r domain.Usage) api.Usage {
	out := api.Usage{
		At: r.At.UTC(), Kind: r.Kind, Actor: string(r.Actor), OnBehalfOf: string(r.OnBehalfOf), Item: r.Item, Rank: r.Rank,
		Score: r.Score, Route: r.Route, Status: r.Status, RequestID: r.RequestID, CorrelationID: r.CorrelationID,
		TraceID: r.TraceID, HarmfulAt: known(r.HarmfulAt),
		Before: !r.HarmfulAt.IsZero() && r.At.Before(r.HarmfulAt),
	}
	if r.Kind == domain.Denied {
		out.Rank = 0
	} else {
		out.Status = 0
	}
	return out
}

var usageColumns = columnsOf[api.Usage](`
	at kind actor on_behalf_of item rank score before_harm? harmful_at route status request_id correlation_id trace_id
`)

type usageInput struct {
	ID    string `query:"id" required:"true" doc:"The item's id."`
	Actor string `query:"actor" doc:"Only what this entity did, or what was done on its behalf."`
	From  moment `query:"from" doc:"At or after this time or date."`
	To    moment `query:"to" doc:"Before it."`
	Paging
}

func (s reports) reportUsage(ctx context.Context, c *call, in *usageInput) (*streamed, error) {
	if in.ID == "" {
		c.found.Add("id", "must say which item")
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	k, err := s.visibleItem(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return s.listAccesses(ctx, c, k.ID, in.Actor, in.From, in.To, in.Paging)
}

type denialsInput struct {
	Actor string `query:"actor" doc:"Only what was denied to this entity, or on its behalf."`
	From  moment `query:"from" doc:"At or after this time or date."`
	To    moment `query:"to" doc:"Before it."`
	Paging
}

func (s reports) reportDenials(ctx context.Context, c *call, in *denialsInput) (*streamed, error) {
	return s.listAccesses(ctx, c, "", in.Actor, in.From, in.To, in.Paging)
}

func (s reports) listAccesses(
	ctx context.Context, c *call, item, actor string, from, to moment, in Paging,
) (*streamed, error) {
	query := domain.AccessQuery{Tenant: c.principal.Tenant, Item: item, Actor: entity(&c.found, "actor", actor)}
	query.From, query.To = between(&c.found, "from", from, "to", to)
	if !c.principal.SeesAll() {
		query.Only = c.principal.EffectiveSubject()
	}
	return listing[api.Usage]{
		name: "report", asked: query, columns: usageColumns,
		page: offset(func(ctx context.Context, skip int64, limit int) ([]domain.Usage, error) {
			query.Skip, query.Limit = skip, limit
			return s.cfg.Reporter.Accesses(ctx, query)
		}, usageOf),
	}.answer(ctx, s.Server, c, in)
}
