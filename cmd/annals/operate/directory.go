package operate

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// directoryCommand is a command about a member, whose kind is the command before it: user, agent, team, project or org.
type directoryCommand struct {
	terminal.Remote

	ID string `arg:""`
}

// member is the entity, named by its id or in full.
func (d directoryCommand) member(parsed *kong.Context) string {
	if strings.Contains(d.ID, ":") {
		return d.ID
	}
	return kindIn(parsed) + ":" + d.ID
}

// kindIn is the kind of members that the command is about.
func kindIn(parsed *kong.Context) string { return parsed.Selected().Parent.Name }

func directoryPath(member string, more ...string) []string {
	return append([]string{"v1", "directory", member}, more...)
}

// DirectoryCommands are the commands about members of a kind.
type DirectoryCommands struct {
	Add        directoryAddCommand        `cmd:""`
	List       directoryListCommand       `cmd:""`
	Show       directoryShowCommand       `cmd:""`
	Rename     directoryRenameCommand     `cmd:""`
	Deactivate directoryDeactivateCommand `cmd:""`
	Reactivate directoryReactivateCommand `cmd:""`
}

type directoryAddCommand struct {
	directoryCommand

	Name string `field:"display_name" placeholder:"TEXT"`
}

func (d *directoryAddCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	body := api.NewMember{}
	if d.Name != "" {
		body.DisplayName = &d.Name
	}
	return changeMember(ctx, c, d.Remote, http.MethodPut, body, directoryPath(d.member(parsed)))
}

type directoryRenameCommand struct {
	directoryCommand

	Name string `arg:"" field:"display_name"`
}

func (d *directoryRenameCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	member := d.member(parsed)
	server, err := d.Connect()
	if err != nil {
		return err
	}
	if _, err := server.Do(ctx, client.Get(directoryPath(member)...), nil); err != nil { // a wrong id adds nobody
		return err
	}
	return changeMember(ctx, c, d.Remote, http.MethodPut, api.NewMember{DisplayName: &d.Name}, directoryPath(member))
}

type directoryDeactivateCommand struct {
	directoryCommand

	Reason     string `placeholder:"TEXT"`
	TransferTo string `field:"owner" placeholder:"ENTITY"`
}

func (d *directoryDeactivateCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	member := d.member(parsed)
	server, err := d.Connect()
	if err != nil {
		return err
	}
	if err := d.checkReceiver(ctx, server, member); err != nil {
		return err
	}
	var m api.Member
	a, err := server.Do(ctx, client.Post(api.Reason{Reason: d.Reason}, directoryPath(member, "deactivate")...), &m)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.Document(a.Body)
	} else {
		showMember(c, m)
		for _, prefix := range m.RevokedKeys {
			c.Note("its key %s is revoked", prefix)
		}
	}
	owned := terminal.OrZero(m.Owns)
	if err != nil || owned == 0 {
		return err
	}
	if d.TransferTo == "" {
		c.Note("%s still owns %s; to give them to others: annals %s deactivate %s --transfer-to team:ID",
			member, terminal.Several(owned, "item"), domain.Entity(member).Kind(), domain.Entity(member).ID())
		return nil
	}
	return d.transfer(ctx, c, server, member, owned)
}

// checkReceiver refuses to transfer items to an entity that is not active in the directory.
func (d *directoryDeactivateCommand) checkReceiver(
	ctx context.Context, server *client.Client, member string,
) error {
	if d.TransferTo == "" {
		return nil
	}
	if _, err := domain.ParseEntity(d.TransferTo); err != nil {
		return terminal.Wrong("", "--transfer-to must be an entity such as user:mia")
	}
	var receiver api.Member
	if _, err := server.Do(ctx, client.Get(directoryPath(d.TransferTo)...), &receiver); err != nil {
		return err
	}
	if !receiver.Active || d.TransferTo == member {
		return terminal.Wrong("name another member of the directory", "%s is deactivated, or will be", d.TransferTo)
	}
	return nil
}

// transfer gives what the member owns to another one, page by page. If it ends early, another run goes on.
func (d *directoryDeactivateCommand) transfer(
	ctx context.Context, c *terminal.Console, server *client.Client, member string, owned int,
) error {
	watched, moved, refused := terminal.Watch(c, "transferred"), 0, []api.BulkAnswer(nil)
	defer watched.End()
	for cursor := ""; ; {
		page, err := client.TransferOwned(ctx, server, member, d.TransferTo, d.Reason, cursor, nil)
		moved, refused = moved+page.Moved, append(refused, page.Refused...)
		if err != nil {
			return fmt.Errorf("%d items were transferred, run the command again for the others: %w", moved, err)
		}
		watched.Set(int64(moved), int64(owned))
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	c.Note("%s of %s now belong to %s", terminal.Several(moved, "item"), member, d.TransferTo)
	if len(refused) > 0 {
		return &terminal.Failure{
			Code: terminal.ExitFailed, Fix: "run the command again",
			Detail: fmt.Sprintf(
				"%d items were not transferred, such as %s: %s", len(refused), refused[0].ID, refused[0].Error.Detail,
			),
		}
	}
	return nil
}

type directoryReactivateCommand struct {
	directoryCommand

	Reason string `placeholder:"TEXT"`
}

func (d *directoryReactivateCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	return changeMember(
		ctx, c, d.Remote, http.MethodPost, api.Reason{Reason: d.Reason}, directoryPath(d.member(parsed), "reactivate"),
	)
}

// changeMember sends a change, and shows the member after it.
func changeMember(
	ctx context.Context, c *terminal.Console, r terminal.Remote, method string, body any, path []string,
) error {
	var member api.Member
	return r.Answer(ctx, c, client.Request{Method: method, Path: path, Body: body}, &member, func() error {
		showMember(c, member)
		return nil
	})
}

// showMember prints a member, what it belongs to and why, and who belongs to it.
func showMember(c *terminal.Console, m api.Member) {
	name, state := "", ""
	if m.DisplayName != "" {
		name = " (" + m.DisplayName + ")"
	}
	if !m.Active {
		state = ", deactivated " + terminal.Text(m.DeactivatedAt)
	}
	c.Say("%s%s%s", m.Member, name, state)
	showGroups(c, m.Groups)
	if len(m.Members) == 0 {
		return
	}
	rows := terminal.NewTable("MEMBER", "NAME", "ROLE", "SINCE")
	for _, one := range m.Members {
		role := one.Role
		if !one.Active {
			role += ", deactivated"
		}
		rows.Row(one.Member, one.DisplayName, role, terminal.Text(one.Since))
	}
	c.Table(rows)
}

func showGroups(c *terminal.Console, groups []api.Membership) {
	for _, g := range groups {
		through := "directly"
		if g.Through != "" {
			through = "through " + g.Through
		}
		c.Say("belongs to %s, %s, %s", g.Group, through, g.Role)
	}
}

type directoryListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (d *directoryListCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	kind := kindIn(parsed)
	server, err := d.Connect()
	if err != nil {
		return err
	}
	all, err := client.MembersOf(ctx, server, kind)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return c.Document(api.Page[api.Member]{Items: all})
	case len(all) == 0:
		d.Empty(c, "none yet: annals "+kind+" add ID")
		return nil
	}
	rows := terminal.NewTable("ID", "NAME", "BELONGS TO", "STATE")
	for _, m := range all {
		var groups []string
		for _, g := range m.Groups {
			groups = append(groups, g.Group)
		}
		state := "active"
		if !m.Active {
			state = "deactivated " + terminal.Text(m.DeactivatedAt)
		}
		rows.Row(m.Member, m.DisplayName, strings.Join(groups, ", "), state)
	}
	return d.Show(c, rows)
}

type directoryShowCommand struct{ directoryCommand }

func (d *directoryShowCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	var member api.Member
	return d.Answer(ctx, c, client.Get(directoryPath(d.member(parsed))...), &member, func() error {
		showMember(c, member)
		return nil
	})
}

// MemberCommands are the commands about who belongs to which group.
type MemberCommands struct {
	Add    memberAddCommand    `cmd:""`
	Remove memberRemoveCommand `cmd:""`
}

type memberAddCommand struct {
	terminal.Remote

	Group  string `arg:""`
	Member string `arg:""`
	Role   string `default:"member" enum:"member,maintainer" placeholder:"ROLE"`
}

func (m *memberAddCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changeMember(
		ctx, c, m.Remote, http.MethodPut, api.NewMembership{Role: m.Role}, directoryPath(m.Member, "groups", m.Group),
	)
}

type memberRemoveCommand struct {
	terminal.Remote

	Group  string `arg:""`
	Member string `arg:""`
	Reason string `placeholder:"TEXT"`
}

func (m *memberRemoveCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changeMember(
		ctx, c, m.Remote, http.MethodDelete, api.Reason{Reason: m.Reason}, directoryPath(m.Member, "groups", m.Group),
	)
}
