package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func (s access) tenantRoutes() {
	tags := []string{"Access"}
	const path = "/v1/tenants"
	handle(s.Server, huma.Operation{
		OperationID: "create-tenant", Method: http.MethodPost, Path: path, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary:     "Create a tenant",
		Description: "Root acts in it with the header Annals-Tenant, and gives its admin a key. For root.",
		RequestBody: bodies(s.Server, true, map[string]any{jsonType: api.NewTenant{}}),
		Errors: []int{
			http.StatusBadRequest, http.StatusConflict, http.StatusNotFound, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType,
		},
	}, s.createTenant)
	lookup(s.Server, huma.Operation{
		OperationID: "list-tenants", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "List the tenants", Description: "For root.",
	}, s.listTenants)
}

func (s access) createTenant(ctx context.Context, c *call, _ *struct{}) (*output[api.Tenant], error) {
	given, body, err := readBody[api.NewTenant](s.Server, c)
	if err != nil {
		return nil, err
	}
	command := domain.CreateTenant{By: c.principal, Name: given.Name}
	if err := merge(c.found, command.Validate()); err != nil {
		return nil, err
	}
	submission := c.submission(command, body)
	submission.By.Tenant = domain.SystemTenant
	receipt, err := s.cfg.Writer.Submit(ctx, submission)
	if err != nil {
		return nil, err
	}
	created, _ := receipt.Stream.State.(domain.Tenant)
	return &output[api.Tenant]{api.Tenant{Name: given.Name, CreatedAt: known(created.CreatedAt)}}, nil
}

func (s access) listTenants(ctx context.Context, c *call, _ *struct{}) (out api.Tenants, err error) {
	if c.principal.Role != domain.Root || c.principal.OnBehalfOf != "" || s.cfg.Keys == nil {
		return out, domain.Refuse(domain.ErrForbidden, "tenants are for root")
	}
	all, err := s.cfg.Keys.Tenants(ctx)
	if err != nil {
		return out, err
	}
	out.Items = make([]api.Tenant, len(all))
	for i, t := range all {
		out.Items[i] = api.Tenant{Name: t.Name, CreatedAt: known(t.CreatedAt), ErasedAt: known(t.ErasedAt)}
	}
	return out, nil
}
