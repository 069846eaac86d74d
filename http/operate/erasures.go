package operate

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Eraser plans erasures and reports on them.
type Eraser interface {
	// Lineage lists the items that an item is derived from, and those that are derived from it.
	Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error)
	// Doomed lists what an order would erase, and what is related to it.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
	// Begin starts to carry out ordered erasures at once.
	Begin()
	// Access are the prefixes of the keys, and the memberships, that an order would end.
	Access(ctx context.Context, tenant, of string) (keys []string, groups []domain.Entity, err error)
	// Erasure is an order with its progress. The error matches domain.ErrNotFound if there is none.
	Erasure(ctx context.Context, tenant, id string) (domain.ErasureProgress, error)
	// OrderedBy tells whether p ordered an erasure, as itself or on behalf of the same subject as now.
	OrderedBy(ctx context.Context, p domain.Principal, id string) (bool, error)
	// Erasures reports the erasures of p's tenant, and whether files still hold erased text. For an operator, the
	// files are those of all tenants.
	Erasures(ctx context.Context, p domain.Principal) (domain.ErasureStatus, error)
	// PurgeFiles rewrites the files without the erased text.
	PurgeFiles(ctx context.Context) (domain.Purge, error)
}

// erasures answers requests about erasures and legal holds.
type erasures struct {
	api        *serve.API
	eraser     Eraser
	events     visible.Events
	purgeAfter time.Duration // how long files may hold erased text; 0 for ever
}

// Erasures is the operations on erasures and legal holds. The eraser may be nil.
type Erasures struct {
	Eraser     Eraser
	PurgeAfter time.Duration // how long files may hold erased text; 0 for ever
}

// Routes registers the operations.
func (r Erasures) Routes(a *serve.API, events visible.Events) {
	s := erasures{a.Requiring(r.Eraser, "this server erases nothing"), r.Eraser, events, r.PurgeAfter}
	holdRoutes(a)
	s.routes()
}

func holdRoutes(a *serve.API) {
	tags := []string{"Erasing"}
	serve.ChangeRoute(a, true, huma.Operation{
		OperationID: "hold", Method: http.MethodPost, Path: serve.ItemPath + "/hold", Tags: tags,
		Summary:     "Keep an item from being erased",
		Description: "For admins. It can be forgotten, since that destroys nothing.",
	}, func(_ *serve.Call, t domain.Target, in api.HoldReason) serve.Validated {
		return domain.Hold{Target: t, ReasonCode: in.ReasonCode, Ticket: in.Ticket}
	})
	serve.ChangeRoute(a, true, huma.Operation{
		OperationID: "release", Method: http.MethodPost, Path: serve.ItemPath + "/release", Tags: tags,
		Summary: "End an item's legal hold", Description: "For admins.",
	}, func(_ *serve.Call, t domain.Target, in api.HoldReason) serve.Validated {
		return domain.Release{Target: t, ReasonCode: in.ReasonCode, Ticket: in.Ticket}
	})
}

func (s erasures) routes() {
	tags := []string{"Erasing"}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "lineage", Method: http.MethodGet, Path: serve.ItemPath + "/lineage", Tags: tags,
		Summary: "List what an item goes back to, and what goes back to it",
		Description: "What it was made from and what was made from it, what took its place and whose place it took, and " +
			"so on from each of them: of what you may see.",
		Errors: serve.ReadErrors,
	}, s.lineage)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "erasures", Method: http.MethodGet, Path: "/v1/erasures", Tags: tags,
		Summary:     "See what was erased, and whether the files still hold it",
		Description: "For admins and auditors. Each erasure is an event: GET /v1/events?name=knowledge.erased.",
	}, s.erasures)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "purge", Method: http.MethodPost, Path: "/v1/erasures/purge", Tags: tags,
		Summary: "Rewrite the files, so that they hold nothing of what was erased",
		Description: "For operators. On SQLite writes wait until it is done; on PostgreSQL requests for the table that " +
			"is being rewritten do.",
	}, s.purge)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "order-erasure", Method: http.MethodPost, Path: "/v1/erasures", Tags: tags,
		DefaultStatus: http.StatusAccepted, Summary: "Erase everything of an entity",
		Description: "For admins, and for the entity itself. The order is recorded and carried out in the background, item " +
			"by item, and goes on after a restart. What is under legal hold or belongs to another entity is left and named.",
		Errors: serve.WriteErrors,
	}, s.orderErasure)
	serve.Handle(s.api, huma.Operation{
		OperationID: "plan-erasure", Method: http.MethodGet, Path: "/v1/erasures/plan", Tags: tags,
		Summary:     "See what an order would erase",
		Description: "And what else was derived from it. For those who may order it.",
		Errors:      []int{http.StatusNotFound},
	}, s.planErasure)
	serve.Handle(s.api, huma.Operation{
		OperationID: "erasure", Method: http.MethodGet, Path: "/v1/erasures/{id}", Tags: tags,
		Summary:     "See how far an order has come",
		Description: "For admins and auditors, for the one who ordered it, and for the entity that it is about.",
		Errors:      []int{http.StatusNotFound},
	}, s.erasure)
}

func (s erasures) lineage(ctx context.Context, c *serve.Call, in *serve.ItemInput) (api.Lineage, error) {
	out := api.Lineage{Items: []api.LineageEntry{}}
	if _, err := s.events.Items.Find(ctx, c, in.ID); err != nil {
		return out, err
	}
	all, err := s.eraser.Lineage(ctx, c.Principal.Tenant, in.ID)
	if err != nil {
		return out, err
	}
	visible := map[string]bool{in.ID: true}
	for _, relative := range all {
		if !visible[relative.Of] {
			continue
		}
		shown := api.LineageEntry{ID: relative.ID, Stream: relative.Stream, Relation: relative.Relation, Of: relative.Of}
		if relative.ID == "" && !c.Principal.SeesAll() && !c.Principal.MaySeeSession(relative.Stream) {
			continue
		}
		if relative.ID != "" {
			k, err := s.events.Items.Reader.Find(ctx, c.Principal.Tenant, relative.ID)
			if err != nil {
				return out, err
			}
			if !c.Principal.MaySee(k) {
				continue
			}
			visible[k.ID] = true
			shown.Owner, shown.Status = string(k.Owner), string(k.Status)
		}
		out.Items = append(out.Items, shown)
	}
	return out, nil
}

func (s erasures) erasures(ctx context.Context, c *serve.Call, _ *struct{}) (out api.Erasures, err error) {
	if !c.Principal.SeesAll() {
		return out, domain.Refuse(domain.ErrForbidden, "what was erased is for admins and auditors")
	}
	status, err := s.eraser.Erasures(ctx, c.Principal)
	if err != nil {
		return out, err
	}
	out.Erasures, out.Texts, out.Unpurged = status.Erasures, status.Texts, status.Unpurged
	out.Oldest, out.Kept = serve.Time(status.Oldest), append([]string{}, status.Kept...)
	out.ForOwner = status.ForOwner
	if s.purgeAfter > 0 && !status.Oldest.IsZero() {
		out.PurgeBy = new(status.Oldest.Add(s.purgeAfter))
	}
	if status.Last != nil {
		out.LastPurge = new(api.PurgeResult(*status.Last))
	}
	return out, nil
}

func (s erasures) purge(ctx context.Context, c *serve.Call, _ *struct{}) (api.PurgeResult, error) {
	if !c.Principal.IsOperator() {
		return api.PurgeResult{}, domain.Refuse(domain.ErrForbidden, "purging the files is for operators")
	}
	done, err := s.eraser.PurgeFiles(context.WithoutCancel(ctx)) // an interrupted rewrite would be useless
	return api.PurgeResult(done), err
}

type erasureInput struct {
	ID string `path:"id" doc:"Of the order."`
}

type erasureOutput struct {
	Status   int    `json:"-"`
	Location string `header:"Location"`
	Position string `header:"Annals-Position" doc:"Where the log is now."`
	Body     api.Erasure
}

type erasurePlanInput struct {
	Of          string        `query:"of" example:"user:123" doc:"As in an order."`
	WithLineage serve.Boolean `query:"with_lineage"`
	KeepShared  serve.Boolean `query:"keep_shared" doc:"As in an order."`
}

func (s erasures) orderErasure(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.ErasureOrder,
) (*erasureOutput, error) {
	command, err := domain.OrderErasure{
		By: c.Principal, ID: serve.NewID(), Of: body.Of, WithLineage: body.WithLineage, KeepShared: body.KeepShared,
		KeepAccess: body.KeepAccess,
		ErasureReason: domain.ErasureReason{
			ReasonCode: body.ReasonCode, LegalBasis: body.LegalBasis, RequestedBy: body.RequestedBy, Ticket: body.Ticket,
		},
	}.Complete()
	receipt, err := c.Submit(ctx, command, err)
	if err != nil {
		return nil, err
	}
	s.eraser.Begin()
	id := receipt.Stream.Name[len(domain.ErasureStreams.Of("")):] // a repeated request answers with the id of the first
	ordered, _ := receipt.Stream.State.(domain.Erasure)
	shown, err := s.redactFor(ctx, c, domain.ErasureProgress{Erasure: ordered, Erased: ordered.Erased})
	return &erasureOutput{
		Status: http.StatusAccepted, Location: "/v1/erasures/" + id, Position: serve.WholeCell(receipt.Position),
		Body: erasureOf(id, shown),
	}, err
}

func (s erasures) erasure(ctx context.Context, c *serve.Call, in *erasureInput) (*erasureOutput, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	unknown := domain.Refuse(domain.ErrNotFound, "there is no such erasure")
	if !domain.IsItemID(in.ID) {
		return nil, unknown
	}
	found, err := s.eraser.Erasure(ctx, c.Principal.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if !c.Principal.SeesAll() && string(c.Principal.Subject) != found.Of {
		if his, err := s.eraser.OrderedBy(ctx, c.Principal, in.ID); err != nil {
			return nil, err
		} else if !his {
			return nil, unknown
		}
	}
	shown, err := s.redactFor(ctx, c, found)
	return &erasureOutput{Status: http.StatusOK, Body: erasureOf(in.ID, shown)}, err
}

func (s erasures) planErasure(
	ctx context.Context, c *serve.Call, in *erasurePlanInput,
) (*serve.Output[api.ErasurePlan], error) {
	lineage := domain.LineageListed
	if with := in.WithLineage.Read(&c.Found, "with_lineage"); with != nil && *with {
		lineage = domain.LineageErased
	}
	keep := in.KeepShared.Read(&c.Found, "keep_shared")
	_, err := domain.OrderErasure{By: c.Principal, Of: in.Of}.Complete()
	if err := serve.Merge(c.Found, err); err != nil {
		return nil, err
	}
	refused := ""
	if domain.IsItem(in.Of) {
		k, err := s.events.Items.Find(ctx, c, in.Of)
		if err != nil {
			return nil, err
		}
		refused = domain.ErasureTarget{ID: k.ID, Owner: k.Owner, Held: k.Held}.ReasonRetained(c.Principal)
	}
	all, err := s.eraser.Doomed(ctx, c.Principal.Tenant, in.Of, lineage)
	if err != nil {
		return nil, err
	}
	out := &serve.Output[api.ErasurePlan]{}
	out.Body.Items, out.Body.MeantFor = []api.ErasureTarget{}, map[string]int64{}
	keys, groups, err := s.eraser.Access(ctx, c.Principal.Tenant, in.Of)
	if err != nil {
		return nil, err
	}
	out.Body.Keys = int64(len(keys))
	if out.Body.Memberships = serve.Strings(groups); domain.Entity(in.Of).Kind() != "tenant" {
		out.Body.KeyPrefixes = keys
	}
	stays := domain.Retained(c.Principal, all)
	for _, d := range all {
		visible, err := s.events.MayRead(ctx, c, d.Stream)
		if err != nil {
			return nil, err
		}
		if visible || d.Owner == c.Principal.Subject {
			why := stays[d.Stream]
			if d.WillErase && refused != "" { // one refusal keeps everything
				why = refused
			}
			shown := api.ErasureTarget{
				ID: d.ID, Stream: d.Stream, Owner: string(d.Owner), Status: string(d.Status), Held: d.Held,
				Title: d.Title, Scopes: serve.Strings(d.Scopes),
				Relation: d.Relation, RelatedTo: d.RelatedTo, Goes: d.WillErase && why == "", Kept: why != "", Reason: why,
			}
			if to := d.RelatedTo; to != "" {
				if domain.IsItemID(to) {
					to = domain.KnowledgeStream(to)
				}
				if may, err := s.events.MayRead(ctx, c, to); err != nil {
					return nil, err
				} else if !may {
					shown.RelatedTo = ""
				}
			}
			if to := string(d.PassesTo(in.Of)); to != "" {
				out.Body.MeantFor[to]++
				if keep != nil && *keep {
					shown.PassesTo, shown.Goes, shown.Kept, shown.Reason = to, false, false, ""
				}
			}
			out.Body.Items = append(out.Body.Items, shown)
		}
	}
	return out, nil
}

// redactFor removes from an erasure's refused streams those that the caller may not know of.
func (s erasures) redactFor(
	ctx context.Context, c *serve.Call, e domain.ErasureProgress,
) (domain.ErasureProgress, error) {
	if c.Principal.SeesAll() {
		return e, nil
	}
	all := e.Refused
	e.Refused = nil
	for _, r := range all {
		visible, err := s.events.MayRead(ctx, c, r.Stream)
		if err != nil {
			return e, err
		}
		if visible {
			e.Refused = append(e.Refused, r)
		}
	}
	e.NotErased = int64(len(e.Refused))
	return e, nil
}

func erasureOf(id string, e domain.ErasureProgress) api.Erasure {
	body := api.Erasure{
		ID: id, Of: e.Of, WithLineage: e.WithLineage, State: "completed", Erased: e.Erased, Left: e.Left,
		Passed: e.Passed, KeepShared: e.KeepShared, KeepAccess: e.KeepAccess, Revoked: e.Revoked, NotErased: e.NotErased,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
		OrderedAt: e.OrderedAt, EndedAt: serve.Time(e.EndedAt),
	}
	if e.UnderWay() {
		body.State = "under_way"
	}
	for _, r := range e.Refused {
		item, _ := domain.ItemOf(r.Stream)
		body.Refused = append(body.Refused, api.NotErased{ID: item, Stream: r.Stream, Reason: r.Reason})
	}
	return body
}
