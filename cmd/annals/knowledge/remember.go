package knowledge

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/client"
)

type RememberCommand struct {
	terminal.Writing

	Text string `field:"content" arg:""`
	ID   string `name:"id" placeholder:"ID"`

	terminal.Fields
	ContextType string `complete:"contexts" placeholder:"WORD"`
	Negative    bool

	OnSimilar string `complete:"similar" default:"report" placeholder:"WORD"`

	SourceName     string   `field:"source.name" placeholder:"NAME"`
	SourceCategory string   `field:"source.category" placeholder:"WORD"`
	SourceURL      []string `field:"source.urls" name:"source-url" sep:"none" placeholder:"URL"`
	SourceAgent    string   `field:"source.agent_id" placeholder:"ID"`
	SourceTrace    string   `field:"source.trace_id" placeholder:"ID"`
	SourceTime     string   `field:"source.timestamp" placeholder:"TIME"`
}

func (r *RememberCommand) Run(ctx context.Context, c *terminal.Console) error {
	text, err := textOf(c, r.Text, "content", mostContent)
	if err != nil {
		return err
	}
	body, err := r.body(text)
	if err != nil {
		return err
	}
	server, err := r.Connect()
	if err != nil {
		return err
	}
	q := client.Post(body, "v1", "knowledge")
	q.Header = r.Header(0)
	q.Query = url.Values{"on_similar": {r.OnSimilar}}
	var k Knowledge
	a, err := server.Do(ctx, q, &k)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	switch a.Header.Get("Annals-Outcome") {
	case domain.Created:
		c.Say("remembered %s · revision %d · %s", terminal.Bold.Render(k.ID), k.Revision, strings.Join(k.Scopes, ", "))
	case domain.Proposed:
		c.Say("proposed %s · a steward of %s accepts it first", terminal.Bold.Render(k.ID), strings.Join(k.Scopes, ", "))
	default:
		c.Say("known already: %s", terminal.Bold.Render(k.ID))
		return nil
	}
	RedactionsOf(a).Print(c)
	k.printSimilar(c)
	return nil
}

// printSimilar lists the similar items of an answer, and how to go on.
func (k Knowledge) printSimilar(c *terminal.Console) {
	if len(k.Similar) == 0 {
		return
	}
	rows := terminal.NewTable("SIMILAR", "KIND", "SCORE", "RULE")
	near := ""
	for _, s := range k.Similar {
		rows.Row(s.ID, s.Kind, fmt.Sprintf("%.2f", s.Score), s.Rule)
		if near == "" && s.Kind != domain.Resembling {
			near = s.ID
		}
	}
	c.Table(rows)
	if near != "" {
		c.Note("if %s is obsolete: annals supersede %s %s; if this item is: annals forget %s; to make one item of both: "+
			"annals merge %s %s; to decide later: annals review", near, near, k.ID, k.ID, near, k.ID)
	}
}

// body leaves omitted fields to the server, except the type: who types a sentence usually has learnt it by doing.
func (r *RememberCommand) body(text string) (map[string]any, error) {
	at := r.SourceTime
	if _, err := time.Parse(time.DateOnly, at); err != nil { // the server accepts a date as it is
		if at, err = terminal.TimeOf("source-time", at); err != nil {
			return nil, err
		}
	}
	body, err := r.Values(map[string]*string{"id": &r.ID, "content": &text, "context_type": &r.ContextType})
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(body, func(name string, value any) bool { return value == "" && name != "content" })
	if body["type"] == nil && body["category"] == nil && body["context_type"] == nil {
		body["type"] = domain.Strategy
	}
	if r.Negative {
		body["polarity"] = domain.Negative
	}
	if len(r.Tag) > 0 {
		body["tags"] = terminal.TagsOf(r.Tag)
	}
	source := api.Source{
		Name: r.SourceName, Category: r.SourceCategory, URLs: r.SourceURL,
		AgentID: r.SourceAgent, TraceID: r.SourceTrace, Timestamp: at,
	}
	if source.Name+source.Category+source.AgentID+source.TraceID+source.Timestamp != "" || len(source.URLs) > 0 {
		body["source"] = source
	}
	return body, nil
}

// The limits of texts, in the words of the server.
var (
	mostContent = fmt.Sprintf("%d bytes", domain.MaxContent)
	mostQuery   = fmt.Sprintf("%d bytes", 2*domain.MaxContent)
)

// textOf is the argument, or standard input if it is "-". It refuses a text that is far too long for the field: the
// server would refuse the whole request without naming the text.
func textOf(c *terminal.Console, input, field, most string) (string, error) {
	if input != "-" {
		return input, nil
	}
	if c.Prompted {
		c.Note("type the text, then end it with Ctrl-D")
	}
	const farTooLong = 2 * domain.MaxContent // the server checks shorter texts
	text, err := io.ReadAll(io.LimitReader(body.UTF8(c.In), farTooLong+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(text) > farTooLong:
		return "", terminal.BadFields("",
			terminal.Field{Field: field, Message: "must have at most " + most + ", has far more"})
	case !utf8.Valid(text):
		return "", terminal.Wrong("", "standard input %s", terminal.NotText)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
