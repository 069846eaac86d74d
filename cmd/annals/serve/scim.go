package serve

import (
	"context"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/scim"
	"github.com/annals-kb/annals/projections/people"
)

// openSCIM mounts what identity providers keep the directory with.
func openSCIM(_ context.Context, c *core) (part, error) {
	surface := scim.Server{
		Writer: c.entrance, Directory: people.Directory{Log: c.log.Reader}, Keys: c.keys, PublicURL: c.cfg.PublicURL,
	}
	return part{mounts: []annalshttp.Mount{{
		Paths: []string{scim.Path}, Handler: surface.Answer, Refuse: surface.Refuse, MaxBody: scim.MaxBody,
	}}}, nil
}
