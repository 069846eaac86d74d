package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// Eraser knows what goes with an erasure.
type Eraser interface {
	// Lineage lists what an item goes back to, and what goes back to it.
	Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error)
	// Doomed lists what an order would erase, and what is related to it.
	Doomed(ctx context.Context, tenant, of string, lineage domain.LineageMode) ([]domain.ErasureTarget, error)
	// Begin lets what was ordered be carried out at once.
	Begin()
	// Closing counts the keys that an order would revoke.
	Closing(ctx context.Context, tenant, of string) (keys int64, err error)
	// Erasure is an order, and how far it has come; the error matches domain.ErrNotFound if there is none.
	Erasure(ctx context.Context, tenant, id string) (domain.ErasureProgress, error)
	// OrderedBy tells whether p ordered an erasure, in person or for the same one as now.
	OrderedBy(ctx context.Context, p domain.Principal, id string) (bool, error)
	// Erasures tells what was erased of p's tenant, and whether files still hold some of it; to whoever operates the
	// server, whether they do of any tenant.
	Erasures(ctx context.Context, p domain.Principal) (domain.ErasureStatus, error)
	// SweepFiles rewrites the files, so that they hold nothing of what was erased.
	SweepFiles(ctx context.Context) (domain.Purge, error)
}

type lineageOutput struct{ Body api.Lineage }

type sweepOutput struct{ Body api.PurgeResult }

type erasuresOutput struct{ Body api.Erasures }

func (s *Server) eraseRoutes() {
	tags := []string{"Erasing"}
	handle(s, huma.Operation{
		OperationID: "hold", Method: http.MethodPost, Path: one + "/hold", Tags: tags,
		Summary: "Keep an item from being erased", Description: "For admins. It can be forgotten, since that destroys nothing.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.HoldReason{}}), Errors: changeErrors,
	}, s.hold)
	handle(s, huma.Operation{
		OperationID: "release", Method: http.MethodPost, Path: one + "/release", Tags: tags,
		Summary: "End an item's legal hold", Description: "For admins.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.HoldReason{}}), Errors: changeErrors,
	}, s.release)
	handle(s, huma.Operation{
		OperationID: "lineage", Method: http.MethodGet, Path: one + "/lineage", Tags: tags,
		Summary:     "List what an item goes back to, and what goes back to it",
		Description: "What it was made from and what was made from it, what took its place and whose place it took, and so on from each of them: of what you may see.",
		Errors:      readErrors,
	}, s.lineage)
	handle(s, huma.Operation{
		OperationID: "erasures", Method: http.MethodGet, Path: "/v1/erasures", Tags: tags,
		Summary: "See what was erased, and whether the files still hold it", Description: "For admins and auditors. Each erasure is an event: GET /v1/events?name=knowledge.erased.",
	}, s.erasures)
	handle(s, huma.Operation{
		OperationID: "sweep", Method: http.MethodPost, Path: "/v1/erasures/sweep", Tags: tags,
		Summary:     "Rewrite the files, so that they hold nothing of what was erased",
		Description: "For whoever operates the server. On SQLite writes wait meanwhile; on PostgreSQL whoever uses the table that is being rewritten does.",
	}, s.sweep)
}

func (s *Server) hold(ctx context.Context, c *call, in *itemInput) (*reply, error) {
	given, body, err := read[api.HoldReason](s, c)
	if err != nil {
		return nil, err
	}
	return replied(s.change(ctx, c, in.ID, body, func(t domain.Target) (domain.Command, error) {
		command := domain.Hold{Target: t, ReasonCode: given.ReasonCode, Ticket: given.Ticket}
		return command, command.Validate()
	}))
}

func (s *Server) release(ctx context.Context, c *call, in *itemInput) (*reply, error) {
	given, body, err := read[api.HoldReason](s, c)
	if err != nil {
		return nil, err
	}
	return replied(s.change(ctx, c, in.ID, body, func(t domain.Target) (domain.Command, error) {
		command := domain.Release{Target: t, ReasonCode: given.ReasonCode, Ticket: given.Ticket}
		return command, command.Validate()
	}))
}

// erase is a forgetting for good.
func (s *Server) erase(ctx context.Context, c *call, in *forgetInput) (*receipt, error) {
	done, err := s.change(ctx, c, in.ID, nil, func(t domain.Target) (domain.Command, error) {
		return domain.Erase{Target: t, ErasureReason: domain.ErasureReason{
			ReasonCode: in.ReasonCode, LegalBasis: in.LegalBasis, RequestedBy: in.RequestedBy, Ticket: in.Ticket,
		}}.Complete()
	})
	if err != nil {
		return nil, err
	}
	return receiptOf(done), nil
}

func (s *Server) lineage(ctx context.Context, c *call, in *itemInput) (*lineageOutput, error) {
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	if !possible(in.ID) || s.cfg.Eraser == nil {
		return nil, domain.NotFound(in.ID)
	}
	k, err := s.cfg.Reader.Find(ctx, c.principal.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if !c.principal.MaySee(k) {
		return nil, domain.NotFound(in.ID)
	}
	all, err := s.cfg.Eraser.Lineage(ctx, c.principal.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	out := &lineageOutput{}
	out.Body.Items = []api.LineageEntry{}
	for _, relative := range all {
		shown := api.LineageEntry{ID: relative.ID, Stream: relative.Stream, Relation: relative.Relation, Of: relative.Of}
		if relative.ID == "" && !c.principal.SeesAll() && !c.principal.MaySeeSession(relative.Stream) {
			continue
		}
		if relative.ID != "" {
			k, err := s.cfg.Reader.Find(ctx, c.principal.Tenant, relative.ID)
			if err != nil {
				return nil, err
			}
			if !c.principal.MaySee(k) {
				continue
			}
			shown.Owner, shown.Status = string(k.Owner), string(k.Status)
		}
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}

func (s *Server) erasures(ctx context.Context, c *call, _ *struct{}) (*erasuresOutput, error) {
	if !c.principal.SeesAll() || s.cfg.Eraser == nil {
		return nil, domain.Refuse(domain.ErrForbidden, "what was erased is for admins and auditors")
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	status, err := s.cfg.Eraser.Erasures(ctx, c.principal)
	if err != nil {
		return nil, err
	}
	out := &erasuresOutput{}
	out.Body.Erasures, out.Body.Texts, out.Body.Unswept = status.Erasures, status.Texts, status.Unpurged
	out.Body.Oldest, out.Body.Kept = known(status.Oldest), append([]string{}, status.Kept...)
	if s.cfg.PurgeAfter > 0 && !status.Oldest.IsZero() {
		out.Body.PurgeBy = new(status.Oldest.Add(s.cfg.PurgeAfter))
	}
	if status.Last != nil {
		last := api.PurgeResult(*status.Last)
		out.Body.LastSweep = &last
	}
	return out, nil
}

func (s *Server) sweep(ctx context.Context, c *call, _ *struct{}) (*sweepOutput, error) {
	if !c.principal.IsOperator() || s.cfg.Eraser == nil {
		return nil, domain.Refuse(domain.ErrForbidden, "sweeping the files is for whoever operates the server")
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	done, err := s.cfg.Eraser.SweepFiles(context.WithoutCancel(ctx)) // half of it would be of no use
	return &sweepOutput{Body: api.PurgeResult(done)}, err
}
