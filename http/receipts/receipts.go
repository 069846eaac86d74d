package receipts

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
	"github.com/annals-kb/annals/projections/receipts"
)

// Receipts keeps what callers were given. *receipts.Receipts is one.
type Receipts interface {
	// Show replays a receipt for a reader. The error matches domain.ErrNotFound if the reader may not see it.
	Show(ctx context.Context, by domain.Principal, id string) (receipts.Replayed, error)
	// List lists receipts, the newest first.
	List(ctx context.Context, q receipts.Query) (receipts.List, error)
	// Visible are the receipts that a reader may see, as far as it may see them.
	Visible(ctx context.Context, by domain.Principal, all ...receipts.Receipt) ([]receipts.Receipt, error)
	// Tree is the tree of the receipts that were sealed with this one.
	Tree(ctx context.Context, of receipts.Receipt) (*receipts.SealedTree, error)
	// Verify compares receipts with their seals and with the log.
	Verify(ctx context.Context, of receipts.Verification) (receipts.Report, error)
	// Gaps are the receipts of a tenant that were lost.
	Gaps(ctx context.Context, tenant string) ([]receipts.Gap, error)
	// Records are the events of an item as they are stored.
	Records(ctx context.Context, tenant, id string) ([]events.Record, error)
	// Numbers are the numbers of items by their ids.
	Numbers(ctx context.Context, tenant string, ids ...string) ([]int64, error)
	// IDs are the ids of items by their numbers.
	IDs(ctx context.Context, tenant string, numbers ...int64) (map[int64]string, error)
}

// Room is the operations on receipts.
type Room struct {
	Receipts Receipts // nil if this server keeps none
	Reader   Reader
	Searcher Searcher
	Browser  Browser
	Prover   Prover // nil if this server proves nothing
	// Rights tells which rights a caller has now, given how it was known.
	Rights func(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error)
}

// room answers requests about receipts.
type room struct {
	Room

	visible visible.Events
}

const receiptsPath = "/v1/receipts"

// Routes registers the operations.
func (r Room) Routes(a *serve.API, visible visible.Events) {
	a = a.Requiring(r.Receipts, "this server keeps no receipts")
	s := room{r, visible}
	tags := a.Tags("Receipts", "What callers were given: which items, in which wording, and why.")
	serve.Handle(a, huma.Operation{
		OperationID: "list-receipts", Method: http.MethodGet, Path: receiptsPath, Tags: tags,
		Summary: "List who was given what",
		Description: "Newest first. A page can have fewer receipts than its limit, or none, and be followed by others. " +
			"Auditors and admins see all receipts. Members see their own. The stewards of an item see the receipts of " +
			"answers that had it, without the questions and the other items.",
		Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	}, s.list)
	serve.Handle(a, huma.Operation{
		OperationID: "show-receipt", Method: http.MethodGet, Path: receiptsPath + "/{id}", Tags: tags,
		Summary: "Show an answer as it was given",
		Description: "It is made from the log, and compared with what was recorded when it was given. A receipt that you " +
			"may not see does not exist for you.",
		Errors: []int{http.StatusNotFound},
	}, s.show)
	serve.Handle(a, huma.Operation{
		OperationID: "verify-receipts", Method: http.MethodGet, Path: receiptsPath + "/verification", Tags: tags,
		Summary: "Verify that receipts are as they were given",
		Description: "Compares them with their seals and with the log, and names those that were changed, removed or " +
			"added. The log proves itself: annals verify. For auditors and admins.",
	}, s.verify)
	serve.Handle(a, huma.Operation{
		OperationID: "export-evidence", Method: http.MethodGet, Path: receiptsPath + "/evidence", Tags: tags,
		Summary: "Export evidence of what was told, for an auditor",
		Description: "A zip: the answers as they were given, the events of their items, and what proves both; a page " +
			"to read, a page that maps its parts to controls, and a script of Python that verifies it without a network. " +
			"At most 2,000 receipts. For auditors and admins.",
		Errors: []int{http.StatusBadRequest, http.StatusNotFound},
		Responses: map[string]*huma.Response{"200": {
			Description: "The file",
			Content: map[string]*huma.MediaType{
				zipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			},
		}},
	}, s.evidence)
}

type listInput struct {
	Agent   string       `query:"agent" doc:"Who was given it, or for whom: an entity such as agent:coder."`
	Item    string       `query:"item" doc:"The id of an item that the answer had."`
	TraceID string       `query:"trace_id"`
	Session string       `query:"session"`
	Host    string       `query:"host" doc:"The program that asked, with or without its version: claude-code, or claude-code/2.0."`
	Kind    string       `query:"kind" enum:"use,look,denied"`
	Contain string       `query:"containment" doc:"The id of a containment, of whose items the answer had one. For auditors and admins."`
	Since   serve.Moment `query:"since" doc:"At or after this time or date."`
	Until   serve.Moment `query:"until" doc:"Before it."`
	serve.Paging
}

// query reads the filters. Who may not see all receipts asks for its own, or for those of an item.
func (s room) query(ctx context.Context, c *serve.Call, in *listInput) (q receipts.Query, err error) {
	q = receipts.Query{
		Tenant: c.Principal.Tenant, By: serve.Entity(&c.Found, "agent", in.Agent), Trace: in.TraceID,
		Session: in.Session, Host: in.Host, Kind: domain.GivenKind(in.Kind), Limit: in.Size(c),
	}
	for field, value := range map[string]string{"trace_id": in.TraceID, "session": in.Session, "host": in.Host} {
		serve.CheckText(&c.Found, field, value)
	}
	switch q.Kind {
	case "", domain.GivenUse, domain.GivenLook, domain.GivenDenial:
	default:
		c.Found.Add("kind", "must be use, look or denied")
	}
	q.Since, q.Until = serve.Between(&c.Found, "since", in.Since, "until", in.Until)
	if err := c.Found.Err(); err != nil {
		return q, err
	}
	if in.Contain != "" {
		return s.contained(ctx, c, q, in)
	}
	if in.Item == "" {
		if !c.Principal.SeesAll() {
			q.Only = c.Principal.EffectiveSubject()
		}
		return q, nil
	}
	k, err := s.visible.Items.Find(ctx, c, in.Item)
	if err == nil {
		q.Items, err = s.Receipts.Numbers(ctx, q.Tenant, k.ID)
	}
	return q, err
}

// contained adds the items of a containment to a query: those of the events that its first event caused.
func (s room) contained(
	ctx context.Context, c *serve.Call, q receipts.Query, in *listInput,
) (receipts.Query, error) {
	if !c.Principal.SeesAll() {
		return q, domain.Refuse(domain.ErrForbidden, "only auditors and admins ask for the answers of a containment")
	}
	if in.Item != "" {
		c.Found.Add("item", "is not for the answers of a containment")
		return q, c.Found.Err()
	}
	stream := domain.ContainmentStreams.Of(in.Contain)
	applied, err := s.visible.Log.Stream(ctx, q.Tenant, stream)
	if err == nil && len(applied) == 0 {
		err = domain.Refuse(domain.ErrNotFound, "no containment with this id")
	}
	if err != nil {
		return q, err
	}
	var ids []string
	events := domain.EventQuery{Tenant: q.Tenant, After: applied[0].Position, Limit: domain.MaxLimit}
	for caused := true; caused; {
		page, next, err := s.visible.Finder.Find(ctx, events)
		if err != nil {
			return q, err
		}
		for _, e := range page {
			if caused = e.CausationID == applied[0].EventID; !caused {
				break
			}
			if id, is := domain.ItemOf(e.Stream); is {
				ids = append(ids, id)
			}
		}
		events.After, caused = next, caused && next != 0
	}
	if q.Items, err = s.Receipts.Numbers(ctx, q.Tenant, ids...); err == nil && len(q.Items) == 0 {
		err = domain.Refuse(domain.ErrNotFound, "the containment has no items")
	}
	return q, err
}

func (s room) list(ctx context.Context, c *serve.Call, in *listInput) (*serve.Output[api.Page[api.Receipt]], error) {
	q, err := s.query(ctx, c, in)
	if err != nil {
		return nil, err
	}
	question := q
	question.Limit = 0
	if q.Before, err = serve.NameOf(in.Cursor, question); err != nil {
		return nil, err
	}
	found, err := s.Receipts.List(ctx, q)
	if err != nil {
		return nil, err
	}
	seen, err := s.Receipts.Visible(ctx, c.Principal, found.Receipts...)
	if err != nil {
		return nil, err
	}
	all, err := s.items(ctx, c, seen...)
	if err != nil {
		return nil, err
	}
	return &serve.Output[api.Page[api.Receipt]]{Body: api.Page[api.Receipt]{
		Items: serve.Map(seen, all.receiptOf), NextCursor: serve.NameCursor(found.Next, question),
	}}, nil
}
