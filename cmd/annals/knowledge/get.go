package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type GetCommand struct {
	terminal.Remote
	terminal.Hindsight

	ID string `complete:"ids" arg:""`
}

// Run implements the command.
func (g *GetCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := g.Connect()
	if err != nil {
		return err
	}
	at, err := g.Then()
	if err != nil {
		return err
	}
	query := url.Values{}
	terminal.Put(query, "as_of", at)
	var k Knowledge
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", g.ID}, Query: query}, &k)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	k.Print(c)
	return nil
}

// Print shows the item to people: first what it says, then what is known about it.
func (k Knowledge) Print(c *terminal.Console) {
	c.Say("%s", terminal.Bold.Render(terminal.Printable(k.ID)))
	if k.Task != "" {
		c.Table(c.Indented(k.Task, ""))
	}
	c.Table("\n" + c.Indented(k.Content, "  ") + "\n")
	facts := &terminal.Grid{Heads: []string{"", ""}}
	add := func(name, value string) {
		if value != "" {
			facts.Row(name, terminal.Printable(value))
		}
	}
	add("type", terminal.Joined(" · ", k.Type, k.Category, k.ContextType, k.Polarity))
	add("scopes", strings.Join(k.Scopes, ", ")+" ("+k.Visibility+")")
	add("owner", k.Owner)
	add("tags", joinedTags(k.Tags))
	add("source", k.sourced())
	add("meta", terminal.Compact(k.Meta))
	add("uri", k.URI)
	contested := ""
	if k.Rating().Contested() {
		contested = "contested"
	}
	add("confidence", terminal.Joined(" · ", fmt.Sprintf("%.2f", k.Rating().Confidence), k.votes(), contested))
	if k.Stale != nil && k.Stale.Reporters > 0 {
		add("stale", terminal.Joined(": ", fmt.Sprintf("reported by %d since %s", k.Stale.Reporters, terminal.MomentOf(k.Stale.Since)), k.Stale.Reason))
	}
	if k.Status != "active" {
		add("status", terminal.Joined(" by ", k.Status, k.SupersededBy))
	}
	if k.ConfirmedAt != nil {
		said := terminal.Moment(*k.ConfirmedAt)
		if k.ConfirmUntil != nil {
			said += " until " + terminal.Moment(*k.ConfirmUntil)
		}
		if k.ConfirmationExpired {
			said += " · confirmation expired"
		}
		add("confirmed", said)
	}
	add("revision", fmt.Sprintf("%d · %s", k.Revision, terminal.MomentOf(k.UpdatedAt)))
	add("remembered", terminal.MomentOf(k.CreatedAt))
	c.Table(facts.Render(c.Width))
}

// sourced is where it comes from, in one line.
func (k Knowledge) sourced() string {
	if k.Source == nil {
		return ""
	}
	source := *k.Source
	source.Timestamp = terminal.Timed(source.Timestamp)
	encoded, _ := json.Marshal(source) // of strings
	return terminal.Compact(encoded)
}

// joinedTags are tags in one line.
func joinedTags(tags api.Tags) string {
	encoded, _ := json.Marshal(tags) // of strings
	return terminal.Compact(encoded)
}
