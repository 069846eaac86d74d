package reports

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

const reportPath = "/v1/reports/"

// Reporter reports on the quality and the use of knowledge.
type Reporter interface {
	// Harm ranks items by the votes against them.
	Harm(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Stale ranks items by the reports of staleness since they were last confirmed.
	Stale(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Declining ranks items by the loss of their confidence.
	Declining(ctx context.Context, q domain.ReportQuery) ([]domain.ReportItem, error)
	// Health says how well the scopes are looked after, the largest first. It examines the newest 100,000 items.
	Health(ctx context.Context, q domain.ReportQuery) ([]domain.ScopeHealth, error)
	// Review lists the items that wait for a review.
	Review(ctx context.Context, q domain.ReviewQuery) (domain.ReviewPage, error)
	// OpenProposals are the ids of the open proposals that are about no other items than these.
	OpenProposals(ctx context.Context, tenant string, items []string) ([]string, error)
	// Classify tells the subjects of the newest items that a principal may see and that pass any of the filters.
	Classify(ctx context.Context, by domain.Principal, filters ...domain.Filter) (domain.Classified, error)
	// Contributions are what users did for some items.
	Contributions(ctx context.Context, tenant string, ids []string) ([]domain.Contribution, error)
	// Weeks counts what happened in a scope in some weeks, the last of which ends with the query.
	Weeks(ctx context.Context, q domain.ReportQuery, weeks int) ([]domain.Week, error)
}

// Reader lists items, and searches them.
type Reader interface {
	// List returns the items that its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
	// Search finds by meaning and by words. The search is complete (domain.Search.Complete).
	Search(ctx context.Context, search domain.Search) (domain.Answer, error)
}

// Items counts items.
type Items interface {
	// Count counts the items that a principal may see and that pass a filter.
	Count(ctx context.Context, by domain.Principal, filter domain.Filter) (domain.Counts, error)
}

// Digests sums up what happened.
type Digests interface {
	// Digest counts what happened in a scope, as far as the caller may read it.
	Digest(ctx context.Context, q domain.DigestQuery) (domain.ScopeDigest, error)
}

// Names says who the members are.
type Names interface {
	// Known are those of some members that the directory has.
	Known(ctx context.Context, tenant string, some []domain.Entity) ([]domain.DirectoryMember, error)
	// Name adds the display names of members.
	Name(ctx context.Context, tenant string, members []domain.DirectoryMember) error
}

// reports answers reports.
type reports struct {
	api      *serve.API
	reporter Reporter
	digests  Digests // nil for none
	reader   Reader
	items    Items
	events   visible.Events
	policy   func() domain.ConfidencePolicy
	names    Names  // nil for none
	prover   Prover // nil for none
	links    string // what the addresses of items begin with
}

// Room is the reports. Without digests, names or proofs, they are nil.
type Room struct {
	Reporter Reporter
	Digests  Digests
	Reader   Reader
	Items    Items
	Names    Names
	Prover   Prover
}

// Routes registers the reports.
func (r Room) Routes(a *serve.API, events visible.Events) {
	s := reports{a, r.Reporter, r.Digests, r.Reader, r.Items, events, a.Policy, r.Names, r.Prover, a.Links}
	reviews{a, r.Reporter, events}.reviewRoutes()
	s.expertiseRoutes()
	s.digestRoute()
	s.knownRoute()
	report[api.Event](
		s.api, "actor", "Read everything that an actor did, or that was done on its behalf",
		"", s.reportActor,
	)
	report[api.Event](
		s.api, "changes", "Read everything that changed in a scope",
		"Each event with what it changed. ", s.reportChanges,
	)
	report[api.ItemStanding](
		s.api, "harm", "List the knowledge that did most harm",
		"", s.reportStandings(Reporter.Harm),
	)
	report[api.ItemStanding](
		s.api, "stale", "List the knowledge that most people report stale, or whose confirmation has expired",
		"", s.reportStandings(Reporter.Stale),
	)
	report[api.ItemStanding](
		s.api, "declining", "List the knowledge whose confidence fell furthest",
		"The last thirty days, unless from is given. ", s.reportDeclining,
	)
	report[api.ScopeHealth](
		s.api, "health", "Say how well the knowledge of each scope is looked after",
		"The first line is about all items, then the scopes with the most items. The newest 100,000 items count. ",
		s.reportHealth,
	)
	report[api.ScopeReader](
		s.api, "access", "List who may read a scope, and why",
		"For the moment as_of: who could read it then. Groups that a token claims are not in the log. ", s.reportAccess,
	)
}

func report[T, I any](a *serve.API, name, summary, more string, do serve.Operation[I, serve.Streamed]) {
	serve.Handle(a, huma.Operation{
		OperationID: "report-on-" + name, Method: http.MethodGet, Path: "/v1/reports/" +
			name, Tags: []string{"Reports"}, Summary: summary,
		Description: more + "Pages of JSON, or the whole list as " + serve.LinesType + " or " + serve.CsvType +
			". Auditors and admins see everything of their tenant, members what they may see.",
		Responses: serve.Listed[T](a), Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable},
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
	query := (&visible.Selecting{Actor: in.Actor, From: in.From, To: in.To}).Query(c, nil)
	return s.events.List(c, query).Answer(ctx, c, in.Paging)
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
	query := (&visible.Selecting{Scope: in.Scope, From: in.From, To: in.To}).Query(c, nil)
	all := s.events.List(c, query)
	events := all.Page
	all.Name, all.Columns = "changes", slices.Concat(serve.EventColumns, changeColumns)
	all.Page = func(ctx context.Context, place int64, limit int) ([]api.Event, int64, error) {
		found, next, err := events(ctx, place, limit)
		if err != nil {
			return nil, 0, err
		}
		return found, next, s.addChanges(ctx, c, found)
	}
	return all.Answer(ctx, c, in.Paging)
}

// addChanges adds to events their changes.
func (s reports) addChanges(ctx context.Context, c *serve.Call, list []api.Event) error {
	known := map[string][]domain.HistoryItem{}
	var changed []domain.HistoryItem
	var at []int // where in the list
	for i, e := range list {
		id, isItem := strings.CutPrefix(e.Stream, domain.KnowledgeStream(""))
		if !isItem {
			continue
		}
		if known[id] == nil {
			past, err := s.events.Log.Stream(ctx, c.Principal.Tenant, e.Stream)
			if err != nil {
				return err
			}
			if known[id], err = domain.History(id, past, s.policy()); err != nil {
				return err
			}
		}
		if n := int(e.Version) - 1; n < len(known[id]) {
			changed, at = append(changed, known[id][n]), append(at, i)
		}
	}
	err := s.events.HideHistory(ctx, c, changed)
	for n, item := range changed {
		list[at[n]] = record.HistoryEventOf(item, false)
	}
	return err
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
	chosen := (&visible.Selecting{Scope: in.Scope, Owner: in.Owner, From: in.From, To: in.To}).Query(c, nil)
	query := domain.ReportQuery{
		Tenant: chosen.Tenant, Only: chosen.Only, Scope: chosen.Scope, Owner: chosen.Owner, From: chosen.From, To: chosen.To,
	}
	return serve.Listing[api.ItemStanding]{
		Name: "report", Query: []any{c.Request.URL.Path, query}, Columns: standingColumns,
		Page: serve.Offset(func(ctx context.Context, skip int64, limit int) ([]domain.ReportItem, error) {
			query.Skip, query.Limit = skip, limit
			return rank(s.reporter, ctx, query)
		}, show),
	}.Answer(ctx, c, in.Paging)
}

type healthInput struct {
	Scope string `query:"scope" doc:"Only this scope, such as team:pay or public."`
	serve.Paging
}

var healthColumns = serve.ColumnsOf[api.ScopeHealth](`
	scope items verified stale contested overdue unowned median_age_days new doubtful
`)

func (s reports) reportHealth(ctx context.Context, c *serve.Call, in *healthInput) (*serve.Streamed, error) {
	chosen := (&visible.Selecting{Scope: in.Scope}).Query(c, nil)
	query := domain.ReportQuery{Tenant: chosen.Tenant, Only: chosen.Only, Scope: chosen.Scope}
	var all []domain.ScopeHealth
	return serve.Listing[api.ScopeHealth]{
		Name: "health", Query: []any{c.Request.URL.Path, query}, Columns: healthColumns,
		Page: serve.Offset(func(ctx context.Context, skip int64, limit int) (_ []domain.ScopeHealth, err error) {
			if all == nil {
				if all, err = s.reporter.Health(ctx, query); err != nil {
					return nil, err
				}
			}
			rest := all[min(skip, int64(len(all))):]
			return rest[:min(limit, len(rest))], nil
		}, healthOf),
	}.Answer(ctx, c, in.Paging)
}

func healthOf(h domain.ScopeHealth) api.ScopeHealth {
	share := func(n int) float64 { return math.Round(1000*h.Share(n)) / 1000 }
	return api.ScopeHealth{
		Scope: cmp.Or(string(h.Scope), "all"), Items: h.Items, Verified: share(h.Verified), Stale: share(h.Stale),
		Contested: share(h.Contested), Overdue: share(h.Overdue), Unowned: share(h.Unowned),
		MedianAge: math.Round(h.MedianAge.Hours()/24*10) / 10, New: share(h.New), Doubtful: share(h.Doubtful),
	}
}
