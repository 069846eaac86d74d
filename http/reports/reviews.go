package reports

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
	"github.com/annals-kb/annals/http/visible"
)

// reviews answers requests about what waits for a review, and about the merges and proposals that this leads to.
type reviews struct {
	api      *serve.API
	reporter Reporter
	events   visible.Events
}

func (s reviews) reviewRoutes() {
	serve.Handle(s.api, huma.Operation{
		OperationID: "list-reviews", Method: http.MethodGet, Path: "/v1/reviews", Tags: []string{"Reports"},
		Summary: "List the items that wait for a review",
		Description: "An item waits in one queue or in several. Reported stale: since its last confirmation. Expired: " +
			"its confirmation ended. Contested: found harmful or reported stale, with a confidence below 0.2; items that are " +
			"contested by a contradiction wait in its queue. Divided: at least two helpful votes, the author's included, " +
			"and two harmful ones. Low confidence: below 0.3 with a harmful vote. For these three, a harmful vote must " +
			"be newer than the last confirmation, or a report of staleness. Superseded and used: used after it " +
			"was superseded; the 5,000 newest superseded items are examined. " +
			"Duplicate and contradiction: an open " +
			"proposal names it and other active items, which pair shows. Contradictions that share items, directly or " +
			"through others, wait as one. A confirmation, a supersession or a deletion " +
			"takes an item out of stale, expired, contested, divided, low_confidence and superseded_used; a revision alone " +
			"does not. The order is the number of uses plus one, times the severity, highest first; then the oldest reason, " +
			"then the oldest item. The severity is the sum over the item's queues: 3 for stale, contested, " +
			"divided, superseded and used, and contradiction, 2 for low confidence, duplicate and owner deactivated, 1 for " +
			"expired, verification due and unused. A queue lists its 1,000 newest items. Verification due: a " +
			"verification policy asks for another confirmation; the longest overdue of the 5,000 that were verified " +
			"longest ago. Owner deactivated: text names the owner. Unused: neither used nor confirmed for a year, where " +
			"uses are recorded. Each item is assigned to the verifier of its policy, or else to its owner, or " +
			"else, if the owner was deactivated, to the maintainers of its groups. Auditors and admins see all items of " +
			"their tenant, members what they may see.",
		Errors: []int{http.StatusBadRequest},
	}, s.review)
	s.mergeRoutes()
}

type reviewInput struct {
	Queue string        `query:"queue" enum:"stale,expired,contested,divided,low_confidence,superseded_used,duplicate,contradiction,verification_due,owner_deactivated,unused,proposed" doc:"All if left out."`
	Owner string        `query:"owner" doc:"Whose the items are: an entity such as user:123."`
	Mine  serve.Boolean `query:"mine" doc:"true: only items that you own, or that are assigned to you or to a group that you maintain. You are the entity for which you act."`
	To    string        `query:"assigned" doc:"To whom the items are assigned: an entity such as user:123."`
	Scope string        `query:"scope" doc:"Whom the items reach: a scope such as project:456 or public."`
	serve.Paging
}

func (in *reviewInput) query(c *serve.Call) domain.ReviewQuery {
	chosen := (&visible.Selecting{Scope: in.Scope, Owner: in.Owner}).Query(c, nil)
	q := domain.ReviewQuery{
		Tenant: chosen.Tenant, Only: chosen.Only, Scope: chosen.Scope, Owner: chosen.Owner, Queue: in.Queue,
	}
	if !slices.Contains(domain.Queues(), cmp.Or(in.Queue, domain.QueueStale)) {
		c.Found.Add("queue", "must be one of %s", strings.Join(domain.Queues(), ", "))
	}
	q.Assigned = serve.Entity(&c.Found, "assigned", in.To)
	if mine := in.Mine.Read(&c.Found, "mine"); mine != nil && *mine {
		if q.Owner != "" || q.Assigned != "" {
			c.Found.Add("mine", "cannot be question together with owner or assigned")
		}
		q.Mine = &c.Principal
	}
	return q
}

func (s reviews) review(ctx context.Context, c *serve.Call, in *reviewInput) (*serve.Output[api.Reviews], error) {
	query := in.query(c)
	limit := in.Size(c)
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	question := query
	if question.Only, question.Mine = nil, nil; query.Mine != nil { // a cursor shows nothing that its user may not see
		question.Assigned = "mine"
	}
	place, err := serve.PlaceOf(in.Cursor, question)
	if err != nil {
		return nil, err
	}
	query.Skip, query.Limit = place, limit
	page, err := s.reporter.Review(ctx, query)
	if err != nil {
		return nil, err
	}
	items := serve.Map(page.Items, func(r domain.Review) *domain.Knowledge { return r.Item })
	for _, r := range page.Items {
		if r.Pair != nil {
			items = append(items, r.Pair.Items...)
		}
	}
	if err := s.events.Items.Verify(ctx, c, items...); err != nil {
		return nil, err
	}
	out := api.Reviews{
		Receipt: s.events.Items.GiveLook(c, items...),
		Items:   serve.Map(page.Items, reviewOf), Total: page.Total, Queues: map[string]api.ReviewQueue{},
		ByAssignee: serve.Map(page.ByAssignee, loadOf), ByScope: serve.Map(page.ByScope, loadOf),
	}
	for name, length := range page.Queues {
		out.Queues[name] = api.ReviewQueue(length)
	}
	if next := place + int64(limit); next < int64(page.Total) {
		out.NextCursor = serve.Cursor(next, question)
	}
	return &serve.Output[api.Reviews]{Body: out}, nil
}

func loadOf(l domain.ReviewLoad) api.ReviewLoad {
	return api.ReviewLoad{Of: string(l.Of), Items: l.Items, Since: serve.Time(l.Since)}
}

func reviewOf(r domain.Review) api.Review {
	reasonOf := func(reason domain.ReviewReason) api.ReviewReason {
		if reason.Queue == domain.QueueSupersededUsed {
			reason.Text = r.Item.SupersededBy // empty if the reader may not see it
		}
		return api.ReviewReason{
			Queue: reason.Queue, Since: serve.Time(reason.Since), Count: reason.Count, Text: reason.Text,
		}
	}
	out := api.Review{Item: serve.KnowledgeOf(r.Item), Reasons: serve.Map(r.Reasons, reasonOf)}
	if p := r.Pair; p != nil {
		out.Pair = &api.ReviewPair{
			Proposal: p.Proposal, Kind: string(p.Kind), Score: p.Score, Rule: p.Rule, By: string(p.By), Reason: p.Reason,
			All: p.All,
		}
		for _, k := range p.Items {
			out.Pair.Items = append(out.Pair.Items, serve.KnowledgeOf(k))
		}
	}
	if len(r.Assigned.To) > 0 {
		out.Assigned = &api.Assignment{To: serve.Strings(r.Assigned.To), Why: r.Assigned.Why}
	}
	if r.Uses > 0 {
		out.Used = &api.ReviewUse{Count: r.Uses, Last: serve.Time(r.Used)}
	}
	return out
}
