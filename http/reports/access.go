package reports

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

type accessInput struct {
	Scope string    `query:"scope" required:"true" example:"team:pay" doc:"A scope such as team:pay or public."`
	AsOf  body.AsOf `query:"as_of"`
	serve.Paging
}

var accessColumns = serve.ColumnsOf[api.ScopeReader]("subject reason through key role since")

// reportAccess lists who may read a scope. It folds the events about the directory and about keys.
func (s reports) reportAccess(ctx context.Context, c *serve.Call, in *accessInput) (*serve.Streamed, error) {
	scope, err := domain.ParseScope(in.Scope)
	if err != nil {
		c.Found.Add("scope", "%s", err)
	}
	at := in.AsOf.Parse(&c.Found, "as_of")
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if !c.Principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "who may read a scope is for auditors and admins")
	}
	if at, err = s.events.Resolve(ctx, c, at); err != nil {
		return nil, err
	}
	valid := c.Now
	if !at.Time.IsZero() {
		valid = at.Time
	}
	var readers []domain.ScopeReader
	return serve.Listing[api.ScopeReader]{
		Name: "access", Query: []any{c.Request.URL.Path, scope, at.Position}, Columns: accessColumns,
		Page: serve.Offset(func(ctx context.Context, skip int64, limit int) ([]domain.ScopeReader, error) {
			if readers == nil {
				state, err := s.accessAt(ctx, c.Principal.Tenant, at.Position)
				if err != nil {
					return nil, err
				}
				readers = state.ReadersOf(scope, valid)
			}
			rest := readers[min(skip, int64(len(readers))):]
			return rest[:min(limit, len(rest))], nil
		}, scopeReaderOf),
	}.Answer(ctx, c, in.Paging)
}

func scopeReaderOf(r domain.ScopeReader) api.ScopeReader {
	return api.ScopeReader{
		Subject: string(r.Subject), Reason: r.Reason, Through: serve.Strings(r.Through), Key: r.Key, Role: r.Role,
		Since: serve.Time(r.Since),
	}
}

// accessAt folds the directory and the keys of a tenant up to a position, or to the end if it is 0.
func (s reports) accessAt(ctx context.Context, tenant string, position int64) (state domain.AccessState, err error) {
	query := domain.EventQuery{Tenant: tenant, Names: domain.AccessFacts(), Limit: 500}
	for {
		events, next, err := s.events.Finder.Find(ctx, query)
		if err != nil {
			return state, err
		}
		for _, e := range events {
			if position > 0 && e.Position > position {
				return state, nil
			}
			if err := state.Take(e); err != nil {
				return state, err
			}
		}
		if query.After = next; next == 0 || position > 0 && next > position {
			return state, nil
		}
	}
}
