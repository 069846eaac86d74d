package serve

import (
	"context"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/projections/policies"
)

// openPolicies tells by which policies items are verified.
func openPolicies(_ context.Context, c *core) (part, error) {
	all := policies.NewVerifications(c.log.Reader)
	c.knowledge.Searcher.Verified = all
	return part{
		rooms: []annalshttp.Room{operate.PolicyRoom{Policies: all}},
		api:   func(api *annalshttp.Config) { api.Policies = all },
	}, nil
}
