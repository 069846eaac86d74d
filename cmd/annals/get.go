package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

type getCommand struct {
	remote
	hindsight

	ID string `complete:"ids" arg:"" help:"Which piece of knowledge."`
}

// Help implements kong.HelpProvider.
func (getCommand) Help() string {
	return `Examples:

    annals get profile_001
    annals get profile_001 --json
    annals get profile_001 --as-of 2026-03-01`
}

// Run implements the command.
func (g *getCommand) Run(ctx context.Context, c *console) error {
	server, err := g.connect()
	if err != nil {
		return err
	}
	at, err := g.asOf()
	if err != nil {
		return err
	}
	query := url.Values{}
	put(query, "as_of", at)
	var k knowledge
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", g.ID}, Query: query}, &k)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	k.print(c)
	return nil
}

// print shows the item to people: first what it says, then what is known about it.
func (k knowledge) print(c *console) {
	c.say("%s", bold.Render(printable(k.ID)))
	if k.Task != "" {
		c.table(c.indented(k.Task, ""))
	}
	c.table("\n" + c.indented(k.Content, "  ") + "\n")
	facts := &grid{heads: []string{"", ""}}
	add := func(name, value string) {
		if value != "" {
			facts.row(name, printable(value))
		}
	}
	add("type", joined(" · ", k.Type, k.Category, k.ContextType, k.Polarity))
	add("scopes", strings.Join(k.Scopes, ", ")+" ("+k.Visibility+")")
	add("owner", k.Owner)
	add("tags", joinedTags(k.Tags))
	add("source", k.sourced())
	add("meta", compact(k.Meta))
	add("uri", k.URI)
	contested := ""
	if k.rating().Contested() {
		contested = "contested"
	}
	add("confidence", joined(" · ", fmt.Sprintf("%.2f", k.rating().Confidence), k.votes(), contested))
	if k.Stale != nil && k.Stale.Reporters > 0 {
		add("stale", joined(": ", fmt.Sprintf("reported by %d since %s", k.Stale.Reporters, momentOf(k.Stale.Since)), k.Stale.Reason))
	}
	if k.Status != "active" {
		add("status", joined(" by ", k.Status, k.SupersededBy))
	}
	if k.ConfirmedAt != nil {
		said := moment(*k.ConfirmedAt)
		if k.ConfirmUntil != nil {
			said += " until " + moment(*k.ConfirmUntil)
		}
		if k.ConfirmationExpired {
			said += " · confirmation expired"
		}
		add("confirmed", said)
	}
	add("revision", fmt.Sprintf("%d · %s", k.Revision, momentOf(k.UpdatedAt)))
	add("remembered", momentOf(k.CreatedAt))
	c.table(facts.render(c.width))
}

// joined joins what there is.
func joined(separator string, parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, separator)
}

// sourced is where it comes from, in one line.
func (k knowledge) sourced() string {
	if k.Source == nil {
		return ""
	}
	source := *k.Source
	source.Timestamp = timed(source.Timestamp)
	encoded, _ := json.Marshal(source) // of strings
	return compact(encoded)
}

// joinedTags are tags in one line.
func joinedTags(tags api.Tags) string {
	encoded, _ := json.Marshal(tags) // of strings
	return compact(encoded)
}
