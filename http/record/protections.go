package record

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s Record) walls(ctx context.Context, c *serve.Call, _ *struct{}) (out api.Protections, err error) {
	switch {
	case !c.Principal.SeesAll():
		return out, domain.Refuse(domain.ErrForbidden, "only auditors and admins see the protections")
	case s.Protections == nil:
		return out, domain.Refuse(domain.ErrNotFound, "this server does not know its protections")
	}
	all, err := s.Protections(ctx)
	out.Items = serve.Map(all, func(p domain.Protection) api.Protection { return api.Protection(p) })
	return out, err
}
