package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

type whoamiCommand struct{ remote }

// Help implements kong.HelpProvider.
func (whoamiCommand) Help() string {
	return `Without a key you are whom --as names, or user:default; docs/security.md#no-auth-mode has the same for HTTP, MCP and /api/v1.

Examples:

    annals whoami
    annals whoami --as agent:coder --on-behalf-of user:alice
    annals whoami --json`
}

// Run implements the command.
func (w *whoamiCommand) Run(ctx context.Context, c *console) error {
	server, err := w.connect()
	if err != nil {
		return err
	}
	var me api.Identity
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "whoami"}}, &me)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("%s, %s in tenant %s, known by %s", printable(joined(" for ", me.Subject, me.OnBehalfOf)), me.Role, printable(me.Tenant), printable(me.Authentication))
	if len(me.Memberships) > 0 {
		c.say("belongs to %s", printable(strings.Join(me.Memberships, ", ")))
	}
	return nil
}
