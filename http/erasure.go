package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

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
	Of          string  `query:"of" example:"user:123" doc:"As in an order."`
	WithLineage boolean `query:"with_lineage"`
}

type erasurePlanOutput struct{ Body api.ErasurePlan }

func (s *Server) erasureRoutes() {
	tags := []string{"Erasing"}
	handle(s, huma.Operation{
		OperationID: "order-erasure", Method: http.MethodPost, Path: "/v1/erasures", Tags: tags, DefaultStatus: http.StatusAccepted,
		Summary: "Erase all that is somebody's",
		Description: "For admins, and for whoever it is in person. The order is recorded and carried out in the background, thing by thing, " +
			"and goes on after a restart, however the server ended. What is under legal hold, or somebody else's, is left and named.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.ErasureOrder{}}), Errors: writeErrors,
	}, s.orderErasure)
	handle(s, huma.Operation{
		OperationID: "plan-erasure", Method: http.MethodGet, Path: "/v1/erasures/plan", Tags: tags,
		Summary: "See what an order would erase", Description: "And what else goes back to it. For whoever may order it.",
		Errors: []int{http.StatusNotFound},
	}, s.planErasure)
	handle(s, huma.Operation{
		OperationID: "erasure", Method: http.MethodGet, Path: "/v1/erasures/{id}", Tags: tags,
		Summary: "See how far an order has come", Description: "For admins and auditors, for whoever ordered it, and for whom it is about.",
		Errors: []int{http.StatusNotFound},
	}, s.erasure)
}

func (s *Server) orderErasure(ctx context.Context, c *call, _ *struct{}) (*erasureOutput, error) {
	given, body, err := read[api.ErasureOrder](s, c)
	if err != nil {
		return nil, err
	}
	command, err := domain.OrderErasure{
		By: c.principal, ID: newID(), Of: given.Of, WithLineage: given.WithLineage,
		ErasureReason: domain.ErasureReason{ReasonCode: given.ReasonCode, LegalBasis: given.LegalBasis, RequestedBy: given.RequestedBy, Ticket: given.Ticket},
	}.Complete()
	if err := merge(c.found, err); err != nil {
		return nil, err
	}
	if s.cfg.Eraser == nil {
		return nil, domain.Refuse(domain.ErrNotFound, "this server erases nothing")
	}
	receipt, err := s.cfg.Writer.Submit(ctx, c.submission(command, body))
	if err != nil {
		return nil, err
	}
	s.cfg.Eraser.Begin()
	id := receipt.Stream.Name[len(domain.ErasureStream("")):] // that of the first time, if the request came again
	ordered, _ := receipt.Stream.State.(domain.Erasure)
	shown, err := s.shownTo(ctx, c.principal, domain.ErasureProgress{Erasure: ordered, Erased: ordered.Erased})
	return &erasureOutput{
		Status: http.StatusAccepted, Location: "/v1/erasures/" + id, Position: wholeCell(receipt.Position),
		Body: erasureOf(id, shown),
	}, err
}

func (s *Server) erasure(ctx context.Context, c *call, in *erasureInput) (*erasureOutput, error) {
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	unknown := domain.Refuse(domain.ErrNotFound, "there is no such erasure")
	if s.cfg.Eraser == nil || !possible(in.ID) {
		return nil, unknown
	}
	found, err := s.cfg.Eraser.Erasure(ctx, c.principal.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if !c.principal.SeesAll() && string(c.principal.Subject) != found.Of {
		if his, err := s.cfg.Eraser.OrderedBy(ctx, c.principal, in.ID); err != nil {
			return nil, err
		} else if !his {
			return nil, unknown
		}
	}
	shown, err := s.shownTo(ctx, c.principal, found)
	return &erasureOutput{Status: http.StatusOK, Body: erasureOf(in.ID, shown)}, err
}

func (s *Server) planErasure(ctx context.Context, c *call, in *erasurePlanInput) (*erasurePlanOutput, error) {
	lineage := domain.LineageListed
	if with := in.WithLineage.read(&c.found, "with_lineage"); with != nil && *with {
		lineage = domain.LineageErased
	}
	_, err := domain.OrderErasure{By: c.principal, Of: in.Of}.Complete()
	if err := merge(c.found, err); err != nil {
		return nil, err
	}
	if s.cfg.Eraser == nil {
		return nil, domain.Refuse(domain.ErrNotFound, "this server erases nothing")
	}
	refused := ""
	if domain.IsItem(in.Of) {
		k, err := s.cfg.Reader.Find(ctx, c.principal.Tenant, in.Of)
		if err != nil {
			return nil, err
		}
		if !c.principal.MaySee(k) {
			return nil, domain.NotFound(in.Of)
		}
		refused = domain.ErasureTarget{ID: k.ID, Owner: k.Owner, Held: k.Held}.ReasonRetained(c.principal)
	}
	all, err := s.cfg.Eraser.Doomed(ctx, c.principal.Tenant, in.Of, lineage)
	if err != nil {
		return nil, err
	}
	out := &erasurePlanOutput{}
	out.Body.Items = []api.ErasureTarget{}
	if out.Body.Keys, err = s.cfg.Eraser.Closing(ctx, c.principal.Tenant, in.Of); err != nil {
		return nil, err
	}
	stays := domain.Retained(c.principal, all)
	for _, d := range all {
		visible, err := s.sees(ctx, c.principal, d.Stream)
		if err != nil {
			return nil, err
		}
		if visible || d.Owner == c.principal.Subject {
			why := stays[d.Stream]
			if d.WillErase && refused != "" { // all of it
				why = refused
			}
			out.Body.Items = append(out.Body.Items, api.ErasureTarget{
				ID: d.ID, Stream: d.Stream, Owner: string(d.Owner), Status: string(d.Status), Held: d.Held,
				Relation: d.Relation, RelatedTo: d.RelatedTo, Goes: d.WillErase && why == "", Kept: why != "", Reason: why,
			})
		}
	}
	return out, nil
}

// sees tells whether p may know of what a stream is about, an item or a session.
func (s *Server) sees(ctx context.Context, p domain.Principal, stream string) (bool, error) {
	id, isItem := domain.ItemOf(stream)
	if p.SeesAll() || !isItem {
		return p.SeesAll() || p.MaySeeSession(stream), nil
	}
	k, err := s.cfg.Reader.Find(ctx, p.Tenant, id)
	if err != nil {
		return false, err
	}
	return p.MaySee(k), nil
}

// shownTo leaves out of what an order could not erase what p may not know of.
func (s *Server) shownTo(ctx context.Context, p domain.Principal, e domain.ErasureProgress) (domain.ErasureProgress, error) {
	if p.SeesAll() {
		return e, nil
	}
	all := e.Refused
	e.Refused = nil
	for _, r := range all {
		visible, err := s.sees(ctx, p, r.Stream)
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
		ID: id, Of: e.Of, WithLineage: e.WithLineage, State: "completed", Erased: e.Erased, Left: e.Left, Revoked: e.Revoked, NotErased: e.NotErased,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
		OrderedAt: e.OrderedAt, EndedAt: known(e.EndedAt),
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
