package http

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// verification answers requests about verification policies, and shows how items are verified.
type verification struct{ *Server }

func (s verification) verificationRoutes() {
	const path = "/v1/verification"
	tags := []string{"Verification"}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-policies", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the verification policies",
		Description: "The most specific policy of an item counts: of its scope and type, of its scope, of its type, of " +
			"all. Of several that are as specific, the shortest period counts.",
	}, s.list)
	serve.Handle(s.api, huma.Operation{
		OperationID: "set-policy", Method: http.MethodPut, Path: path + "/{scope}", Tags: tags,
		Summary:     "Set how often the items of a scope are verified, and by whom",
		Description: "For admins, and for the maintainers of the group that the scope names.",
		RequestBody: serve.JSONBody[api.NewPolicy](s.api, true),
		Errors:      serve.BodyErrors,
	}, s.set)
	serve.Handle(s.api, huma.Operation{
		OperationID: "remove-policy", Method: http.MethodDelete, Path: path + "/{scope}", Tags: tags,
		Summary:     "Remove a verification policy",
		Description: "For admins, and for the maintainers of the group that the scope names.",
		Errors:      []int{http.StatusBadRequest, http.StatusNotFound},
	}, s.remove)
}

type policyInput struct {
	Scope string `path:"scope" example:"team:pay" doc:"A scope such as team:pay or public, or all."`
	Type  string `query:"type" example:"plan" doc:"Of the items. Default: all types."`
}

type policyOutput struct {
	Position string `header:"Annals-Position" doc:"Of the newest event."`
	Outcome  string `header:"Annals-Outcome" enum:"created,recorded,unchanged" doc:"What the write did."`
	Body     api.VerificationPolicies
}

// allScopes names the policies of all scopes.
const allScopes = "all"

func (in *policyInput) of(c *serve.Call) domain.OfPolicy {
	key := domain.PolicyKey{Scope: domain.Scope(in.Scope), Type: domain.Type(in.Type)}
	if in.Scope == allScopes {
		key.Scope = ""
	}
	return domain.OfPolicy{By: c.Principal, PolicyKey: key}
}

func (s verification) list(ctx context.Context, c *serve.Call, _ *struct{}) (api.VerificationPolicies, error) {
	out := api.VerificationPolicies{Items: []api.VerificationPolicy{}}
	if s.cfg.Verification == nil {
		return out, nil
	}
	all, err := s.cfg.Verification.Policies(ctx, c.Principal.Tenant)
	for _, p := range all.Policies {
		shown := api.VerificationPolicy{
			Scope: string(p.Scope), Type: string(p.Type), EveryDays: p.EveryDays, Verifier: string(p.Verifier),
			SetAt: serve.Time(p.SetAt),
		}
		if shown.Scope == "" {
			shown.Scope = allScopes
		}
		out.Items = append(out.Items, shown)
	}
	return out, err
}

func (s verification) set(ctx context.Context, c *serve.Call, in *policyInput) (*policyOutput, error) {
	given, body, err := serve.ReadAny[api.NewPolicy](c)
	if err != nil {
		return nil, err
	}
	command := domain.SetPolicy{OfPolicy: in.of(c), EveryDays: given.EveryDays, Verifier: domain.Entity(given.Verifier)}
	return s.change(ctx, c, command, body)
}

func (s verification) remove(ctx context.Context, c *serve.Call, in *policyInput) (*policyOutput, error) {
	return s.change(ctx, c, domain.RemovePolicy{OfPolicy: in.of(c)}, nil)
}

// change submits a command, and answers with all policies afterwards.
func (s verification) change(
	ctx context.Context, c *serve.Call, command serve.Validated, body []byte,
) (*policyOutput, error) {
	if s.cfg.Verification == nil {
		return nil, domain.Refuse(domain.ErrNotFound, "this server keeps no verification policies")
	}
	done, err := c.Submit(ctx, command, command.Validate(), body)
	if err != nil {
		return nil, err
	}
	s.cfg.Verification.Forget(c.Principal.Tenant)
	out := &policyOutput{Position: fmt.Sprint(done.Position), Outcome: done.Outcome}
	out.Body, err = s.list(ctx, c, nil)
	return out, err
}

// verify sets how items of the present are verified and disputed. It asks who confirmed them only if any of them was
// confirmed.
func (s verification) verify(ctx context.Context, c *serve.Call, items ...*domain.Knowledge) error {
	err := s.cfg.Reader.Dispute(ctx, c.Principal, items...)
	if err != nil || s.cfg.Verification == nil || len(items) == 0 {
		return err
	}
	policies, err := s.cfg.Verification.Policies(ctx, c.Principal.Tenant)
	if err != nil {
		return err
	}
	var confirmed []string
	for _, k := range items {
		if !k.ConfirmedAt.IsZero() {
			confirmed = append(confirmed, k.ID)
		}
	}
	by, err := s.cfg.Verification.ConfirmedBy(ctx, c.Principal.Tenant, confirmed)
	for _, k := range items {
		policies.Verify(k, by[k.ID], c.Now)
	}
	return err
}

type healthInput struct {
	Scope string `query:"scope" doc:"Only this scope, such as team:pay or public."`
	serve.Paging
}

var healthColumns = serve.ColumnsOf[api.ScopeHealth](`
	scope items verified stale contested overdue unowned median_age_days
`)

func (s reports) reportHealth(ctx context.Context, c *serve.Call, in *healthInput) (*serve.Streamed, error) {
	chosen := (&Selecting{Scope: in.Scope}).query(c, nil)
	query := domain.ReportQuery{Tenant: chosen.Tenant, Only: chosen.Only, Scope: chosen.Scope}
	var all []domain.ScopeHealth
	return serve.Listing[api.ScopeHealth]{
		Name: "health", Asked: []any{c.Request.URL.Path, query}, Columns: healthColumns,
		Page: offset(func(ctx context.Context, skip int64, limit int) (_ []domain.ScopeHealth, err error) {
			if all == nil {
				if all, err = s.cfg.Reporter.Health(ctx, query); err != nil {
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
		Scope: cmp.Or(string(h.Scope), allScopes), Items: h.Items, Verified: share(h.Verified), Stale: share(h.Stale),
		Contested: share(h.Contested), Overdue: share(h.Overdue), Unowned: share(h.Unowned),
		MedianAge: math.Round(h.MedianAge.Hours()/24*10) / 10,
	}
}
