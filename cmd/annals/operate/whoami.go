package operate

import (
	"context"
	"net/http"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type WhoamiCommand struct{ terminal.Remote }

// Run implements the command.
func (w *WhoamiCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := w.Connect()
	if err != nil {
		return err
	}
	var me api.Identity
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "whoami"}}, &me)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("%s, %s in tenant %s, known by %s", terminal.Printable(terminal.Joined(" for ", me.Subject, me.OnBehalfOf)), me.Role, terminal.Printable(me.Tenant), terminal.Printable(me.Authentication))
	if len(me.Memberships) > 0 {
		c.Say("belongs to %s", terminal.Printable(strings.Join(me.Memberships, ", ")))
	}
	return nil
}
