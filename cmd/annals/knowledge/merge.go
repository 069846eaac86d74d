package knowledge

import (
	"cmp"
	"context"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type MergeCommand struct {
	Changing

	Others     []string `complete:"ids" field:"items" arg:""`
	Content    *string  `short:"c" xor:"content" placeholder:"TEXT"`
	Edit       bool     `xor:"content"`
	Task       *string  `short:"t" placeholder:"TEXT"`
	Abstract   *string  `placeholder:"TEXT"`
	CarryVotes bool     `field:"carry_votes"`
	Reason     string   `short:"r" placeholder:"TEXT"`
	DryRun     bool
}

func (m *MergeCommand) Run(ctx context.Context, c *terminal.Console) error {
	body := api.Merge{
		Items: m.Others, Content: m.Content, Task: m.Task, Abstract: m.Abstract, CarryVotes: m.CarryVotes, Reason: m.Reason,
	}
	if m.Content != nil {
		text, err := textOf(c, *m.Content, "content", mostContent)
		if err != nil {
			return err
		}
		body.Content = &text
	}
	if m.DryRun {
		return m.plan(ctx, c, body.Content)
	}
	if m.Edit {
		items, err := m.items(ctx)
		if err != nil {
			return err
		}
		text, err := inEditor(ctx, contents(items))
		if err != nil {
			return err
		}
		body.Content, m.Revision = &text, cmp.Or(m.Revision, items[0].Revision)
		for _, other := range items[1:] {
			body.Revisions = append(body.Revisions, other.Revision)
		}
	}
	return m.Change(ctx, c, client.Post(body, "merge"), "merged into")
}

// items reads the item that stays, and the others.
func (m *MergeCommand) items(ctx context.Context) (items []*api.Knowledge, err error) {
	server, err := m.Connect()
	if err != nil {
		return nil, err
	}
	for _, id := range append([]string{m.ID}, m.Others...) {
		var k api.Knowledge
		if _, err := server.Do(ctx, client.Get("v1", "knowledge", id), &k); err != nil {
			return nil, err
		}
		items = append(items, &k)
	}
	return items, nil
}

// plan shows what a merge would do, and changes nothing. Only the server knows who may merge the items.
func (m *MergeCommand) plan(ctx context.Context, c *terminal.Console, content *string) error {
	items, err := m.items(ctx)
	if err != nil {
		return err
	}
	refused := 0
	rows := terminal.NewTable("ITEM", "BECOMES", "OWNER", "VOTES", "CONTENT")
	for i, item := range items {
		k, becomes := Knowledge{*item}, "stays"
		if i == 0 && content != nil {
			k.Content, k.Abstract, becomes = *content, cmp.Or(terminal.OrZero(m.Abstract), *content), "gets this text"
		}
		switch {
		case k.Status != string(domain.Active):
			becomes = "refused: it is " + k.Status
			refused++
		case i > 0:
			becomes = "superseded by " + m.ID
		}
		rows.Row(k.ID, becomes, k.Owner, k.votes(), k.Snippet(SnippetColumns))
		if !c.JSON && c.Narrow() {
			k.printBlock(c, "", terminal.Amber.Render(becomes))
		}
	}
	if c.JSON {
		document := map[string]any{"items": items}
		if content != nil {
			document["content"] = *content
		}
		err = c.Document(document)
	} else {
		if !c.Narrow() {
			c.Table(rows)
		}
		c.Note("nothing was changed, and it was not checked whether you may merge them")
	}
	if err == nil && refused > 0 {
		err = &terminal.Failure{
			Code: terminal.ExitRefused, Detail: "the merge would be refused", Fix: "merge items that still hold",
		}
	}
	return err
}

type UnmergeCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

func (u *UnmergeCommand) Run(ctx context.Context, c *terminal.Console) error {
	return u.Change(ctx, c, client.Post(api.Reason{Reason: u.Reason}, "unmerge"), "undid the merge of")
}

type ProposeCommand struct {
	terminal.Writing

	Items  []string `complete:"ids" arg:""`
	Kind   string   `enum:"duplicate,contradiction" default:"duplicate"`
	Reason string   `short:"r" placeholder:"TEXT"`
}

func (p *ProposeCommand) Run(ctx context.Context, c *terminal.Console) error {
	var done api.Proposal
	r := client.Post(api.NewProposal{Kind: p.Kind, Items: p.Items, Reason: p.Reason}, "v1", "reviews", "proposals")
	r.Header = p.Header(0)
	return p.Answer(ctx, c, r, &done, func() error {
		what := "proposed as " + done.Kind
		if done.Outcome != "" {
			what += ", and closed as " + done.Outcome
		}
		c.Say("%s · proposal %s", what, terminal.Bold.Render(done.ID))
		return nil
	})
}
