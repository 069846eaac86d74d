package operate

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Policies keeps the verification policies of tenants.
type Policies interface {
	visible.Policies
	// Forget lets the next question read the policies of a tenant again.
	Forget(tenant string)
}

// policies answers requests about verification policies.
type policies struct {
	api  *serve.API
	kept Policies
}

// PolicyRoom is the operations on verification policies, which may be nil.
type PolicyRoom struct{ Policies Policies }

// Routes registers the operations.
func (r PolicyRoom) Routes(a *serve.API, _ visible.Events) {
	s := policies{a.Requiring(r.Policies, "this server keeps no verification policies"), r.Policies}
	const path = "/v1/verification"
	tags := a.Tags("Verification", "How often items are verified, and by whom.")
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-policies", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the verification policies",
		Description: "The most specific policy of an item counts: of its scope and type, of its scope, of its type, of " +
			"all. Of several that are as specific, the shortest period counts. Approval is asked for by each policy that is " +
			"about an item.",
	}, s.list)
	serve.Handle(s.api, huma.Operation{
		OperationID: "set-policy", Method: http.MethodPut, Path: path + "/{scope}", Tags: tags,
		Summary:     "Set how often the items of a scope are verified, and by whom, and what needs approval",
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
	approvalRoutes(s.api, tags)
}

type policyInput struct {
	Scope string `path:"scope" example:"team:pay" doc:"A scope such as team:pay or public, or all."`
	Type  string `query:"type" example:"plan" doc:"Of the items. Default: all types."`
}

type policiesOutput = serve.Written[api.VerificationPolicies]

// allScopes names the policies of all scopes.
const allScopes = "all"

func (in *policyInput) of(c *serve.Call) domain.OfPolicy {
	key := domain.PolicyKey{Scope: domain.Scope(in.Scope), Type: domain.Type(in.Type)}
	if in.Scope == allScopes {
		key.Scope = ""
	}
	return domain.OfPolicy{By: c.Principal, PolicyKey: key}
}

func (s policies) list(ctx context.Context, c *serve.Call, _ *struct{}) (api.VerificationPolicies, error) {
	out := api.VerificationPolicies{Items: []api.VerificationPolicy{}}
	all, err := s.kept.Policies(ctx, c.Principal.Tenant)
	for _, p := range all.Policies {
		shown := api.VerificationPolicy{
			Scope: string(p.Scope), Type: string(p.Type), EveryDays: p.EveryDays, Verifier: string(p.Verifier),
			Approve: serve.Strings(p.Approve), SetAt: serve.Time(p.SetAt),
		}
		if shown.Scope == "" {
			shown.Scope = allScopes
		}
		out.Items = append(out.Items, shown)
	}
	return out, err
}

func (s policies) set(ctx context.Context, c *serve.Call, in *policyInput) (*policiesOutput, error) {
	body, err := serve.ReadAny[api.NewPolicy](c)
	if err != nil {
		return nil, err
	}
	command := domain.SetPolicy{OfPolicy: in.of(c), EveryDays: body.EveryDays, Verifier: domain.Entity(body.Verifier)}
	if body.Approve != nil {
		command.Approve = new(serve.FromStrings[domain.Trust](*body.Approve))
	}
	return s.change(ctx, c, command)
}

func (s policies) remove(ctx context.Context, c *serve.Call, in *policyInput) (*policiesOutput, error) {
	return s.change(ctx, c, domain.RemovePolicy{OfPolicy: in.of(c)})
}

// change submits a command, and answers with all policies afterwards.
func (s policies) change(ctx context.Context, c *serve.Call, command serve.Validated) (*policiesOutput, error) {
	done, err := c.Do(ctx, command)
	if err != nil {
		return nil, err
	}
	s.kept.Forget(c.Principal.Tenant)
	all, err := s.list(ctx, c, nil)
	return serve.WrittenOf(done, all, err)
}
