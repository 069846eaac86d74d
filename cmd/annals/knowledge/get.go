package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type GetCommand struct {
	terminal.Remote
	terminal.AsOfFlag

	ID string `complete:"ids" arg:""`
}

func (g *GetCommand) Run(ctx context.Context, c *terminal.Console) error {
	at, err := g.AsOfParameter()
	if err != nil {
		return err
	}
	question := client.Get("v1", "knowledge", g.ID)
	question.Query = url.Values{}
	terminal.Put(question.Query, "as_of", at)
	var k Knowledge
	return g.Answer(ctx, c, question, &k, func() error {
		k.Print(c)
		return nil
	})
}

// Print shows the item to people: first its content, then its fields.
func (k Knowledge) Print(c *terminal.Console) {
	c.Say("%s", terminal.Bold.Render(k.ID))
	if k.Task != "" {
		c.Lines(c.Indented(k.Task, ""))
	}
	c.Lines("\n" + c.Indented(k.Content, "  ") + "\n")
	facts := terminal.NewTable("", "")
	facts.Field("type", terminal.KindOf(k.Knowledge))
	facts.Field("scopes", strings.Join(k.Scopes, ", ")+" ("+k.Visibility+")")
	facts.Field("owner", k.Owner)
	facts.Field("tags", joinedTags(k.Tags))
	facts.Field("source", k.sourced())
	facts.Field("trust", k.Trust)
	facts.Field("meta", terminal.Compact(k.Meta))
	facts.Field("uri", k.URI)
	contested := ""
	if k.Rating().Contested() {
		contested = "contested"
	}
	facts.Field("confidence", terminal.Joined(" · ", fmt.Sprintf("%.2f", k.Rating().Confidence), k.votes(), contested))
	if len(k.DisputedBy) > 0 {
		facts.Field("disputed by", strings.Join(k.DisputedBy, ", ")+" · annals review --queue contradiction")
	}
	if k.Stale != nil && k.Stale.Reporters > 0 {
		since := fmt.Sprintf("reported by %d since %s", k.Stale.Reporters, terminal.Text(k.Stale.Since))
		facts.Field("stale", terminal.Joined(": ", since, k.Stale.Reason))
	}
	if k.Status != "active" {
		facts.Field("status", terminal.Joined(" by ", k.Status, k.SupersededBy))
	}
	if k.Quarantined != nil {
		facts.Field("quarantined", terminal.Joined(": ", k.Quarantined.Containment, k.Quarantined.Reason))
	}
	if k.ConfirmedAt != nil {
		confirmation := terminal.Text(k.ConfirmedAt)
		if k.Verified != nil && k.Verified.By != "" {
			confirmation += " by " + k.Verified.By
		}
		if k.ConfirmUntil != nil {
			confirmation += " until " + terminal.Text(k.ConfirmUntil)
		}
		if k.ConfirmationExpired {
			confirmation += " · confirmation expired"
		}
		facts.Field("confirmed", confirmation)
	}
	if v := k.Verified; v != nil && v.Until != nil && k.ConfirmUntil == nil {
		due := terminal.Text(v.Until)
		if v.Overdue {
			due += " · overdue"
		}
		facts.Field("verify by", due)
	}
	facts.Field("revision", fmt.Sprintf("%d · %s", k.Revision, terminal.Text(k.UpdatedAt)))
	facts.Field("remembered", k.CreatedAt)
	c.Table(facts)
}

// printBlock shows the whole text of an item below its id and facts, to be compared with others.
func (k Knowledge) printBlock(c *terminal.Console, number string, below ...terminal.Markup) {
	date := terminal.OrZero(k.CreatedAt).Local().Format(time.DateOnly)
	facts := []string{number, string(terminal.Bold.Render(k.ID)), string(k.marks()), k.Owner, date}
	texts := []string{terminal.Printable(terminal.Joined("\n", k.Task, k.Content))}
	seen := terminal.Faint.Render(terminal.Joined(" · ", strings.Join(k.Scopes, " "), k.votes()))
	for _, text := range append(below, seen) {
		texts = append(texts, string(text))
	}
	c.Block(facts, len(k.Content)+1, texts...)
	c.Lines("")
}

// sourced is the source of the item, in one line.
func (k Knowledge) sourced() string {
	if k.Source == nil {
		return ""
	}
	source := *k.Source
	source.Timestamp = terminal.Timed(source.Timestamp)
	encoded, _ := json.Marshal(source) // of strings
	return terminal.Compact(encoded)
}

// joinedTags formats tags in one line.
func joinedTags(tags api.Tags) string {
	encoded, _ := json.Marshal(tags) // of strings
	return terminal.Compact(encoded)
}
