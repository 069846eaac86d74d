package operate

import (
	"context"
	"net/http"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// TenantCommands are what root can do with tenants.
type TenantCommands struct {
	Create tenantCreateCommand `cmd:""`
	List   tenantListCommand   `cmd:""`
}

type tenantCreateCommand struct {
	terminal.Remote

	Name string `arg:""`
}

// Run implements the command.
func (t *tenantCreateCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := t.Connect()
	if err != nil {
		return err
	}
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "tenants"}, Body: api.NewTenant{Name: t.Name}}, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("the tenant %s is there; give its admin a key with: annals key create user:WHO --role admin --tenant %s", t.Name, t.Name)
	return nil
}

type tenantListCommand struct {
	terminal.Remote
	terminal.Tabular
}

// Run implements the command.
func (t *tenantListCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := t.Connect()
	if err != nil {
		return err
	}
	var list api.Tenants
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "tenants"}}, &list)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	rows := &terminal.Grid{Heads: []string{"TENANT", "SINCE", "STATE"}}
	for _, item := range list.Items {
		since := "the beginning"
		if item.CreatedAt != nil {
			since = terminal.Moment(*item.CreatedAt)
		}
		state := "active"
		if item.ErasedAt != nil {
			state = "erased " + terminal.Moment(*item.ErasedAt)
		}
		rows.Row(terminal.Printable(item.Name), since, state)
	}
	return t.Show(c, rows)
}
