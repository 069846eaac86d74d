package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/api"
)

type listCommand struct {
	remote

	Limit  int    `short:"n" default:"20" placeholder:"N" help:"At most so many: 20 unless told."`
	Cursor string `placeholder:"CURSOR" help:"Go on where the page before ended: its next_cursor, with the same filters."`

	tabular
	hindsight
	listFilters
}

// Help implements kong.HelpProvider.
func (listCommand) Help() string {
	return `Everything that you may see, what was remembered last first. What is about something, annals search finds; all of it,
annals export knowledge writes.

Examples:

    annals list
    annals list --type tool --tag domain=web --limit 50
    annals list --owner user:123 --status deleted --status superseded
    annals list --scope project:456 --updated-from 2026-03-01 --json
    annals list --as-of 2026-03-01`
}

// Run implements the command.
func (l *listCommand) Run(ctx context.Context, c *console) error {
	if l.Limit < 1 {
		return nothingAsked(l.Limit)
	}
	query, err := l.listed(l.hindsight)
	if err != nil {
		return err
	}
	filtered := len(query) > 0
	put(query, "cursor", l.Cursor)
	server, err := l.connect()
	if err != nil {
		return err
	}
	all, err := readFirst(ctx, server, []string{"v1", "knowledge"}, query, l.Limit, largestPage)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(all)
	}
	return printList(c, all, l.tabular, filtered)
}

// printList shows a line of each item.
func printList(c *console, p api.Page[json.RawMessage], t tabular, filtered bool) error {
	if len(p.Items) == 0 {
		if filtered {
			t.empty(c, "nothing of that kind, as far as you may see")
		} else {
			t.empty(c, "nothing is known yet, as far as you may see")
		}
		return nil
	}
	rows := &grid{
		heads: []string{"REMEMBERED", "TYPE", "SCOPE", "OWNER", "ID", mark, "KNOWLEDGE"},
		spare: []string{"REMEMBERED", "OWNER", "TYPE"},
	}
	for _, raw := range p.Items {
		var k knowledge
		if err := json.Unmarshal(raw, &k); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		rows.row(momentOf(k.CreatedAt), printable(joined(" · ", k.Type, k.Category)), printable(strings.Join(k.Scopes, ", ")),
			printable(k.Owner), printable(k.ID), k.marks(), k.snippet(snippetColumns))
	}
	if err := t.show(c, rows); err != nil {
		return err
	}
	if p.NextCursor != "" {
		c.note("there is more: --limit N shows it, or --cursor %s", p.NextCursor)
	}
	return nil
}

// marks are what is unusual about the item's state, such as superseded, stale.
func (k knowledge) marks() string {
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
	if k.rating().Contested() {
		contested = "contested"
	}
	return amberIf(joined(", ", contested, status, stale, expired))
}

// amberIf colours a mark, if there is one.
func amberIf(said string) string {
	if said == "" {
		return ""
	}
	return amber.Render(printable(said))
}
