package operate

import (
	"context"
	"net/http"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Rereadable are the projections that may take in an event twice.
var Rereadable = []string{"meaning", "past"}

type RereadCommand struct {
	terminal.Remote

	Projection string `arg:"" complete:"rereadable"`
}

// Run implements the command.
func (r *RereadCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	var p api.Projection
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "projections", r.Projection, "reread"}}, &p)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("%s reads the log again, up to position %s; annals doctor tells how far it is", r.Projection, terminal.Counted(p.Head))
	return nil
}
