package knowledge

import (
	"context"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

type ListCommand struct {
	terminal.Remote

	Limit  int    `short:"n" default:"20" placeholder:"N"`
	Cursor string `placeholder:"CURSOR"`

	terminal.Tabular
	terminal.AsOfFlag
	terminal.ListFilters
}

func (l *ListCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := l.Listed(l.AsOfFlag)
	if err != nil {
		return err
	}
	filtered := len(query) > 0
	terminal.Put(query, "cursor", l.Cursor)
	server, err := l.Connect()
	if err != nil {
		return err
	}
	all, err := terminal.ReadFirst[terminal.Kept[Knowledge]](
		ctx, server, []string{"v1", "knowledge"}, query, l.Limit,
	)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(all)
	}
	return printList(c, all, l.Tabular, filtered)
}

// printList shows one line per item.
func printList(c *terminal.Console, p api.Page[terminal.Kept[Knowledge]], t terminal.Tabular, filtered bool) error {
	if len(p.Items) == 0 {
		why := "nothing is known yet, as far as you may see"
		if filtered {
			why = "nothing of that kind, as far as you may see"
		}
		t.Empty(c, why)
		return nil
	}
	rows := terminal.NewTable("REMEMBERED", "TYPE", "SCOPE", "OWNER", "ID", terminal.Mark, "KNOWLEDGE")
	rows.Spare = []string{"REMEMBERED", "OWNER", "TYPE"}
	for _, item := range p.Items {
		k := item.Value
		kind := terminal.Joined(" · ", k.Type, k.Category)
		rows.Row(k.CreatedAt, kind, strings.Join(k.Scopes, ", "), k.Owner, k.ID, k.marks(), k.Snippet(SnippetColumns))
	}
	if err := t.Show(c, rows); err != nil {
		return err
	}
	if p.NextCursor != "" {
		c.Note("there is more: --limit N shows it, or --cursor %s", p.NextCursor)
	}
	return nil
}

// marks are the unusual states of an item, such as superseded or stale.
func (k Knowledge) marks() terminal.Markup {
	status, stale, expired, contested := k.Status, "", "", ""
	if status == "active" {
		status = ""
	}
	if k.Stale != nil && k.Stale.Reporters > 0 {
		stale = "stale"
	}
	if k.ConfirmationExpired {
		expired = "expired"
	}
	if k.Verified != nil && k.Verified.Overdue && !k.ConfirmationExpired {
		expired = "overdue"
	}
	if k.Rating().Contested() {
		contested = "contested"
	}
	return terminal.Amber.Render(terminal.Joined(", ", contested, status, stale, expired))
}
