package knowledge

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

type MergeCommand struct {
	Changing

	Others     []string `complete:"ids" arg:""`
	Content    *string  `short:"c" placeholder:"TEXT"`
	Task       *string  `short:"t" placeholder:"TEXT"`
	Abstract   *string  `placeholder:"TEXT"`
	CarryVotes bool     `field:"carry_votes"`
	Reason     string   `short:"r" placeholder:"TEXT"`
	DryRun     bool
}

// Run implements the command.
func (m *MergeCommand) Run(ctx context.Context, c *terminal.Console) error {
	if m.DryRun {
		return m.plan(ctx, c)
	}
	body := api.Merge{
		Items: m.Others, Content: m.Content, Task: m.Task, Abstract: m.Abstract, CarryVotes: m.CarryVotes, Reason: m.Reason,
	}
	if m.Content != nil {
		text, err := textOf(c, *m.Content, "content", mostSaid)
		if err != nil {
			return err
		}
		body.Content = &text
	}
	return m.Change(ctx, c, client.Post(body, "merge"), "merged into")
}

// plan shows what a merge would do, and changes nothing.
func (m *MergeCommand) plan(ctx context.Context, c *terminal.Console) error {
	server, err := m.Connect()
	if err != nil {
		return err
	}
	var items []Knowledge
	rows := terminal.NewTable("ITEM", "BECOMES", "OWNER", "VOTES", "CONTENT")
	for i, id := range append([]string{m.ID}, m.Others...) {
		var k Knowledge
		if _, err := server.Do(ctx, client.Get("v1", "knowledge", id), &k); err != nil {
			return err
		}
		becomes := "superseded by " + m.ID
		if i == 0 {
			becomes = "stays"
		} else if k.Status != string(domain.Active) {
			becomes = "refused: it is " + k.Status
		}
		items = append(items, k)
		rows.Row(k.ID, becomes, k.Owner, k.votes(), k.Snippet(SnippetColumns))
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	c.Table(rows)
	c.Note("nothing was changed")
	return nil
}

type UnmergeCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (u *UnmergeCommand) Run(ctx context.Context, c *terminal.Console) error {
	return u.Change(ctx, c, client.Post(api.Reason{Reason: u.Reason}, "unmerge"), "undid the merge of")
}

type ProposeCommand struct {
	terminal.Writing

	Items  []string `complete:"ids" arg:""`
	Kind   string   `enum:"duplicate,contradiction" default:"duplicate"`
	Reason string   `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (p *ProposeCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	var done api.Proposal
	r := client.Post(api.NewProposal{Kind: p.Kind, Items: p.Items, Reason: p.Reason}, "v1", "reviews", "proposals")
	r.Header = p.Header(0)
	answer, err := server.Do(ctx, r, &done)
	if err != nil {
		return err
	}
	what := "proposed as " + done.Kind
	if answer.Header.Get("Annals-Outcome") == domain.Unchanged {
		what = "nothing to change: it was proposed before"
		if done.Outcome != "" {
			what += fmt.Sprintf(", and closed as %s", done.Outcome)
		}
	}
	if c.JSON {
		return c.Document(done)
	}
	c.Say("%s · proposal %s", what, terminal.Bold.Render(done.ID))
	return nil
}
