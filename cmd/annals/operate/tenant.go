package operate

import (
	"context"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// TenantCommands are the commands about tenants, for root.
type TenantCommands struct {
	Create tenantCreateCommand `cmd:""`
	List   tenantListCommand   `cmd:""`
}

type tenantCreateCommand struct {
	terminal.Remote

	Name string `arg:""`
}

func (t *tenantCreateCommand) Run(ctx context.Context, c *terminal.Console) error {
	return t.Answer(ctx, c, client.Post(api.NewTenant{Name: t.Name}, "v1", "tenants"), nil, func() error {
		c.Say("the tenant %s is there; issue a key for its admin with: annals key create user:WHO --role admin --tenant %s",
			t.Name, t.Name)
		return nil
	})
}

type tenantListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (t *tenantListCommand) Run(ctx context.Context, c *terminal.Console) error {
	var list api.Tenants
	return t.Answer(ctx, c, client.Get("v1", "tenants"), &list, func() error {
		rows := terminal.NewTable("TENANT", "SINCE", "STATE")
		for _, item := range list.Items {
			since, state := "the beginning", "active"
			if item.CreatedAt != nil {
				since = terminal.Text(item.CreatedAt)
			}
			if item.ErasedAt != nil {
				state = "erased " + terminal.Text(item.ErasedAt)
			}
			rows.Row(item.Name, since, state)
		}
		return t.Show(c, rows)
	})
}

type WhoamiCommand struct{ terminal.Remote }

func (w *WhoamiCommand) Run(ctx context.Context, c *terminal.Console) error {
	var me api.Identity
	return w.Answer(ctx, c, client.Get("v1", "whoami"), &me, func() error {
		who := terminal.Joined(" for ", me.Subject, me.OnBehalfOf)
		c.Say("%s, %s in tenant %s, known by %s", who, me.Role, me.Tenant, me.Authentication)
		showGroups(c, me.Groups)
		for _, e := range me.Memberships {
			if !slices.ContainsFunc(me.Groups, func(g api.Membership) bool { return g.Group == e }) {
				c.Say("belongs to %s, by the key or the token", e)
			}
		}
		if len(me.ActsForOnly) > 0 {
			c.Say("acts only for %s", strings.Join(me.ActsForOnly, ", "))
		}
		return nil
	})
}

// Replayable are the projections that may process events twice.
var Replayable = []string{"meaning", "past"}

type ReplayCommand struct {
	terminal.Remote

	Projection string `arg:"" complete:"replayable"`
}

func (r *ReplayCommand) Run(ctx context.Context, c *terminal.Console) error {
	var p api.Projection
	return r.Answer(ctx, c, client.Post(nil, "v1", "projections", r.Projection, "replay"), &p, func() error {
		c.Say("%s reads the log again, up to position %s; annals doctor tells how far it is", r.Projection,
			humanize.Comma(p.Head))
		return nil
	})
}
