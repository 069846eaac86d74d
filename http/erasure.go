package http

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// erasureOrder is what is to be erased, and why. All of it stays for ever.
type erasureOrder struct {
	Of          string `json:"of" example:"user:123" doc:"An entity: all that is its own, or meant for it alone; the stream of a session, such as session:123/planning: what was said in it, and its archives; tenant:NAME, for root: everything; or the id of an item."`
	WithLineage bool   `json:"with_lineage,omitempty" doc:"Items that those were made from or into, too, and what took their place."`
	ReasonCode  string `json:"reason_code,omitempty" example:"gdpr-17" doc:"A word; requested unless told."`
	LegalBasis  string `json:"legal_basis,omitempty"`
	RequestedBy string `json:"requested_by,omitempty" doc:"A pseudonym."`
	Ticket      string `json:"ticket,omitempty" example:"DSR-12"`
}

var decodeErasure = decoderOf(reflect.TypeFor[erasureOrder]())

// notErased is something that an order could not erase.
type notErased struct {
	ID     string `json:"id,omitempty" doc:"Of an item."`
	Stream string `json:"stream"`
	Reason string `json:"reason"`
}

// erasure is an order, and how far it has come.
type erasure struct {
	ID          string      `json:"id"`
	Of          string      `json:"of"`
	WithLineage bool        `json:"with_lineage,omitempty"`
	State       string      `json:"state" enum:"under_way,completed"`
	Erased      int64       `json:"erased" doc:"Items, sessions and other things."`
	Left        int64       `json:"left,omitempty" doc:"While it is under way, as far as this server knows."`
	Revoked     int64       `json:"revoked,omitempty" doc:"Keys, of a tenant."`
	NotErased   int64       `json:"not_erased,omitempty" doc:"That were refused, for a legal hold or another's sake."`
	Refused     []notErased `json:"refused,omitempty" doc:"The first of those."`
	ReasonCode  string      `json:"reason_code"`
	LegalBasis  string      `json:"legal_basis,omitempty"`
	RequestedBy string      `json:"requested_by,omitempty"`
	Ticket      string      `json:"ticket,omitempty"`
	OrderedAt   time.Time   `json:"ordered_at"`
	EndedAt     *time.Time  `json:"ended_at,omitempty"`
}

type erasureInput struct {
	ID string `path:"id" doc:"Of the order."`
}

type erasureOutput struct {
	Status   int    `json:"-"`
	Location string `header:"Location"`
	Position string `header:"Annals-Position" doc:"Where the log is now."`
	Body     erasure
}

// erasureTarget is something that an order would erase, or that is related to it.
type erasureTarget struct {
	ID        string `json:"id,omitempty" doc:"Of an item."`
	Stream    string `json:"stream"`
	Owner     string `json:"owner,omitempty"`
	Status    string `json:"status,omitempty" enum:"active,superseded,deleted"`
	Held      bool   `json:"held,omitempty" doc:"Under legal hold: it is refused."`
	Relation  string `json:"relation,omitempty" enum:"derived_from,derives,superseded_by,supersedes,archive_of" doc:"What it is to what related_to names: derived_from is made from that, derives is what that was made from, supersedes took its place. Empty for what was named. The archives of a session go with it."`
	RelatedTo string `json:"related_to,omitempty" doc:"The id of an item, or a session, through which it is related."`
	Goes      bool   `json:"goes" doc:"It would be erased."`
	Kept      bool   `json:"kept,omitempty" doc:"It goes along, and stays: reason says why."`
	Reason    string `json:"reason,omitempty" doc:"Why it stays: it is another's, under legal hold, or a session of which an archive stays."`
}

type erasurePlanInput struct {
	Of          string  `query:"of" example:"user:123" doc:"As in an order."`
	WithLineage boolean `query:"with_lineage"`
}

type erasurePlanOutput struct {
	Body struct {
		Items []erasureTarget `json:"items" nullable:"false"`
		Keys  int64           `json:"keys,omitempty" doc:"That would be revoked, of a tenant: nobody but root gets in from then on, and its name stays taken."`
	} `nameHint:"ErasurePlan"`
}

func (s *Server) erasureRoutes() {
	tags := []string{"Erasing"}
	handle(s, huma.Operation{
		OperationID: "order-erasure", Method: http.MethodPost, Path: "/v1/erasures", Tags: tags, DefaultStatus: http.StatusAccepted,
		Summary: "Erase all that is somebody's",
		Description: "For admins, and for whoever it is in person. The order is recorded and carried out in the background, thing by thing, " +
			"and goes on after a restart, however the server ended. What is under legal hold, or somebody else's, is left and named.",
		RequestBody: bodies(s, true, map[string]any{jsonType: erasureOrder{}}), Errors: writeErrors,
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
	given, body, err := read[erasureOrder](s, c, decodeErasure)
	if err != nil {
		return nil, err
	}
	command, err := domain.OrderErasure{
		By: c.principal, ID: newID(), Of: given.Of, WithLineage: given.WithLineage,
		Grounds: domain.Grounds{ReasonCode: given.ReasonCode, LegalBasis: given.LegalBasis, RequestedBy: given.RequestedBy, Ticket: given.Ticket},
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
		refused = domain.Doomed{ID: k.ID, Owner: k.Owner, Held: k.Held}.NotFor(c.principal)
	}
	all, err := s.cfg.Eraser.Doomed(ctx, c.principal.Tenant, in.Of, lineage)
	if err != nil {
		return nil, err
	}
	out := &erasurePlanOutput{}
	out.Body.Items = []erasureTarget{}
	if out.Body.Keys, err = s.cfg.Eraser.Closing(ctx, c.principal.Tenant, in.Of); err != nil {
		return nil, err
	}
	stays := domain.Stays(c.principal, all)
	for _, d := range all {
		visible, err := s.sees(ctx, c.principal, d.Stream)
		if err != nil {
			return nil, err
		}
		if visible || d.Owner == c.principal.Subject {
			why := stays[d.Stream]
			if d.Goes && refused != "" { // all of it
				why = refused
			}
			out.Body.Items = append(out.Body.Items, erasureTarget{
				ID: d.ID, Stream: d.Stream, Owner: string(d.Owner), Status: string(d.Status), Held: d.Held,
				Relation: d.Relation, RelatedTo: d.RelatedTo, Goes: d.Goes && why == "", Kept: why != "", Reason: why,
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

func erasureOf(id string, e domain.ErasureProgress) erasure {
	body := erasure{
		ID: id, Of: e.Of, WithLineage: e.WithLineage, State: "completed", Erased: e.Erased, Left: e.Left, Revoked: e.Revoked, NotErased: e.NotErased,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
		OrderedAt: e.OrderedAt, EndedAt: known(e.EndedAt),
	}
	if e.UnderWay() {
		body.State = "under_way"
	}
	for _, r := range e.Refused {
		item, _ := domain.ItemOf(r.Stream)
		body.Refused = append(body.Refused, notErased{ID: item, Stream: r.Stream, Reason: r.Reason})
	}
	return body
}
