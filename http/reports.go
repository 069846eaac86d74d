package http

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

const reportPath = "/v1/reports/"

// reports answers reports.
type reports struct{ *Server }

func (s reports) reportRoutes() {
	s.reviewRoutes()
	report(
		s.Server, "actor", "Read everything that an actor did, or that was done on its behalf", "",
		serve.Listed[api.Event](s.api), s.reportActor,
	)
	report(
		s.Server, "changes", "Read everything that changed in a scope", "Each event with what it changed. ",
		serve.Listed[api.Event](s.api), s.reportChanges,
	)
	report(
		s.Server, "harm", "List the knowledge that did most harm", "", serve.Listed[api.ItemStanding](s.api),
		s.reportStandings(Reporter.Harm),
	)
	report(
		s.Server, "stale", "List the knowledge that most people report stale, or whose confirmation has expired", "",
		serve.Listed[api.ItemStanding](s.api), s.reportStandings(Reporter.Stale),
	)
	report(
		s.Server, "declining", "List the knowledge whose confidence fell furthest",
		"The last thirty days, unless from is given. ", serve.Listed[api.ItemStanding](s.api), s.reportDeclining,
	)
	report(
		s.Server, "health", "Say how well the knowledge of each scope is looked after",
		"The first line is about all items, then the scopes with the most items. The newest 100,000 items count. ",
		serve.Listed[api.ScopeHealth](s.api), s.reportHealth,
	)
	report(
		s.Server, "access", "List who may read a scope, and why",
		"For the moment as_of: who could read it then. Groups that a token claims are not in the log. ",
		serve.Listed[api.ScopeReader](s.api), s.reportAccess,
	)
	report(
		s.Server, "usage", "List who was given an item, or found it helpful",
		"What was retrieved is recorded where the operator has asked for it. Members read what they did themselves. ",
		serve.Listed[api.Usage](s.api), s.reportUsage,
	)
	report(
		s.Server, "denials", "List what was denied to whom", "Members read what was denied to them. ",
		serve.Listed[api.Usage](s.api), s.reportDenials,
	)
}

func report[I any](
	s *Server, name, summary, more string, responses map[string]*huma.Response, do serve.Operation[I, serve.Streamed],
) {
	serve.Handle(s.api, huma.Operation{
		OperationID: "report-on-" + name, Method: http.MethodGet, Path: reportPath +
			name, Tags: []string{"Reports"}, Summary: summary,
		Description: more + "Pages of JSON, or the whole list as " + serve.LinesType + " or " + serve.CsvType +
			". Auditors and admins see everything of their tenant, members what they may see.",
		Responses: responses, Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
	}, do)
}

type actorInput struct {
	Actor string       `query:"actor" required:"true" doc:"An entity such as agent:crawler."`
	From  serve.Moment `query:"from" doc:"Recorded at or after this time or date."`
	To    serve.Moment `query:"to" doc:"Recorded before it."`
	serve.Paging
}

func (s reports) reportActor(ctx context.Context, c *serve.Call, in *actorInput) (*serve.Streamed, error) {
	if in.Actor == "" {
		c.Found.Add("actor", "must say whose deeds to report")
	}
	query := (&Selecting{Actor: in.Actor, From: in.From, To: in.To}).query(c, nil)
	return s.eventList(c, query).Answer(ctx, c, in.Paging)
}

type changesInput struct {
	Scope string       `query:"scope" required:"true" doc:"Whom the items reached when it happened, or reach now: a scope such as project:456 or public."`
	From  serve.Moment `query:"from" doc:"Recorded at or after this time or date."`
	To    serve.Moment `query:"to" doc:"Recorded before it."`
	serve.Paging
}

// reportChanges lists the events of the items of a scope with what each changed.
func (s reports) reportChanges(ctx context.Context, c *serve.Call, in *changesInput) (*serve.Streamed, error) {
	if in.Scope == "" {
		c.Found.Add("scope", "must say whose knowledge to report")
	}
	query := (&Selecting{Scope: in.Scope, From: in.From, To: in.To}).query(c, nil)
	all := s.eventList(c, query)
	events := all.Page
	all.Name, all.Columns = "changes", slices.Concat(serve.EventColumns, changeColumns)
	all.Page = func(ctx context.Context, place int64, limit int) ([]api.Event, int64, error) {
		found, next, err := events(ctx, place, limit)
		if err != nil {
			return nil, 0, err
		}
		return found, next, s.addChanges(ctx, c.Principal.Tenant, found)
	}
	return all.Answer(ctx, c, in.Paging)
}

// addChanges adds to events their changes.
func (s reports) addChanges(ctx context.Context, tenant string, list []api.Event) error {
	known := map[string][]domain.HistoryItem{}
	for i, e := range list {
		id, isItem := strings.CutPrefix(e.Stream, domain.KnowledgeStream(""))
		if !isItem {
			continue
		}
		if known[id] == nil {
			past, err := s.cfg.Historian.Stream(ctx, tenant, e.Stream)
			if err != nil {
				return err
			}
			if known[id], err = domain.History(id, past, s.cfg.Policy()); err != nil {
				return err
			}
		}
		if at := int(e.Version) - 1; at < len(known[id]) {
			list[i] = historyEventOf(known[id][at], false)
		}
	}
	return nil
}

var changeColumns = serve.ColumnsOf[api.Event]("changes confidence confidence_policy")

func standingOf(s domain.ReportItem) api.ItemStanding {
	return api.ItemStanding{
		ID: s.ID, Task: s.Task, Owner: string(s.Owner), Scopes: serve.Strings(s.Scopes), Status: string(s.Status),
		Count: s.Count, Last: serve.Time(s.Last), Helpful: s.Helpful, Harmful: s.Harmful, Confidence: s.Confidence,
		Reporters: s.Reporters, Expired: s.Expired, Reason: s.Reason,
	}
}

var standingColumns = serve.ColumnsOf[api.ItemStanding](`
	id task owner scopes status count last before after confidence_policy helpful harmful confidence stale_reporters
	confirmation_expired stale_reason
`)

type standingsInput struct {
	Scope string       `query:"scope" doc:"Whom the items reach now: a scope such as project:456 or public."`
	Owner string       `query:"owner" doc:"Whose the items are now: an entity such as user:123."`
	From  serve.Moment `query:"from" doc:"Counts what came at or after this time or date."`
	To    serve.Moment `query:"to" doc:"Counts what came before it."`
	serve.Paging
}

func (s reports) reportStandings(
	rank func(Reporter, context.Context, domain.ReportQuery) ([]domain.ReportItem, error),
) serve.Operation[standingsInput, serve.Streamed] {
	return func(ctx context.Context, c *serve.Call, in *standingsInput) (*serve.Streamed, error) {
		return s.standings(ctx, c, in, rank, standingOf)
	}
}

// recently is the default period of the report of declining items.
const recently = 30 * 24 * time.Hour

func (s reports) reportDeclining(ctx context.Context, c *serve.Call, in *standingsInput) (*serve.Streamed, error) {
	if in.From == "" {
		in.From = serve.Moment(c.Now.Add(-recently).UTC().Truncate(24 * time.Hour).Format(time.RFC3339))
	}
	return s.standings(ctx, c, in, Reporter.Declining, func(d domain.ReportItem) api.ItemStanding {
		out := standingOf(d)
		out.Before, out.After, out.Policy = &d.Before, &d.After, d.Policy
		return out
	})
}

func (s reports) standings(
	ctx context.Context, c *serve.Call, in *standingsInput,
	rank func(Reporter, context.Context, domain.ReportQuery) ([]domain.ReportItem, error),
	show func(domain.ReportItem) api.ItemStanding,
) (*serve.Streamed, error) {
	chosen := (&Selecting{Scope: in.Scope, Owner: in.Owner, From: in.From, To: in.To}).query(c, nil)
	query := domain.ReportQuery{
		Tenant: chosen.Tenant, Only: chosen.Only, Scope: chosen.Scope, Owner: chosen.Owner, From: chosen.From, To: chosen.To,
	}
	return serve.Listing[api.ItemStanding]{
		Name: "report", Asked: []any{c.Request.URL.Path, query}, Columns: standingColumns,
		Page: offset(func(ctx context.Context, skip int64, limit int) ([]domain.ReportItem, error) {
			query.Skip, query.Limit = skip, limit
			return rank(s.cfg.Reporter, ctx, query)
		}, show),
	}.Answer(ctx, c, in.Paging)
}

// offset reads a list whose cursor counts items.
func offset[D, T any](
	read func(ctx context.Context, skip int64, limit int) ([]D, error), show func(D) T,
) func(context.Context, int64, int) ([]T, int64, error) {
	return func(ctx context.Context, place int64, limit int) ([]T, int64, error) {
		found, err := read(ctx, place, limit+1)
		next := int64(0)
		if len(found) > limit {
			found, next = found[:limit], place+int64(limit)
		}
		return serve.Map(found, show), next, err
	}
}

func usageOf(r domain.Usage) api.Usage {
	out := api.Usage{
		At: r.At.UTC(), Kind: r.Kind, Actor: string(r.Actor), OnBehalfOf: string(r.OnBehalfOf), Item: r.Item, Rank: r.Rank,
		Score: r.Score, Route: r.Route, Status: r.Status, RequestID: r.RequestID, CorrelationID: r.CorrelationID,
		TraceID: r.TraceID, HarmfulAt: serve.Time(r.HarmfulAt),
		Before: !r.HarmfulAt.IsZero() && r.At.Before(r.HarmfulAt),
	}
	if r.Kind == domain.Denied {
		out.Rank = 0
	} else {
		out.Status = 0
	}
	return out
}

var usageColumns = serve.ColumnsOf[api.Usage](`
	at kind actor on_behalf_of item rank score before_harm? harmful_at route status request_id correlation_id trace_id
`)

type usageInput struct {
	ID    string       `query:"id" required:"true" doc:"The item's id."`
	Actor string       `query:"actor" doc:"Only what this entity did, or what was done on its behalf."`
	From  serve.Moment `query:"from" doc:"At or after this time or date."`
	To    serve.Moment `query:"to" doc:"Before it."`
	serve.Paging
}

func (s reports) reportUsage(ctx context.Context, c *serve.Call, in *usageInput) (*serve.Streamed, error) {
	if in.ID == "" {
		c.Found.Add("id", "must say which item")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	k, err := s.visibleItem(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return s.listAccesses(ctx, c, k.ID, in.Actor, in.From, in.To, in.Paging)
}

type denialsInput struct {
	Actor string       `query:"actor" doc:"Only what was denied to this entity, or on its behalf."`
	From  serve.Moment `query:"from" doc:"At or after this time or date."`
	To    serve.Moment `query:"to" doc:"Before it."`
	serve.Paging
}

func (s reports) reportDenials(ctx context.Context, c *serve.Call, in *denialsInput) (*serve.Streamed, error) {
	return s.listAccesses(ctx, c, "", in.Actor, in.From, in.To, in.Paging)
}

func (s reports) listAccesses(
	ctx context.Context, c *serve.Call, item, actor string, from, to serve.Moment, in serve.Paging,
) (*serve.Streamed, error) {
	query := domain.AccessQuery{Tenant: c.Principal.Tenant, Item: item, Actor: entity(&c.Found, "actor", actor)}
	query.From, query.To = between(&c.Found, "from", from, "to", to)
	if !c.Principal.SeesAll() {
		query.Only = c.Principal.EffectiveSubject()
	}
	return serve.Listing[api.Usage]{
		Name: "report", Asked: query, Columns: usageColumns,
		Page: offset(func(ctx context.Context, skip int64, limit int) ([]domain.Usage, error) {
			query.Skip, query.Limit = skip, limit
			return s.cfg.Reporter.Accesses(ctx, query)
		}, usageOf),
	}.Answer(ctx, c, in)
}
