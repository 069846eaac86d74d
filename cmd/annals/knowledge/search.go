package knowledge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type SearchCommand struct {
	terminal.Remote

	Question []string `field:"query" arg:"" help:"What you want to know, with or without quotes; - reads it from standard input."`

	audience

	Limit    *int     `short:"n" placeholder:"N" help:"At most so many answers: 1 to 100, 10 unless told."`
	MinScore *float64 `placeholder:"0…1" help:"Only answers that are at least so much about the question."`
	Order    string   `complete:"orders" placeholder:"WORD" help:"priority: the best answers, nearest scope first (unless told). score: by weight alone."`
	Level    *int     `placeholder:"0…2" help:"Which text answers bring along: 0 the abstract, 1 the overview, 2 the content (unless told)."`
	Explain  bool     `help:"Say how the answer came about."`

	MinPosition int64 `placeholder:"N" help:"Wait a moment until the answer is as new as this position of the log, such as that of a write."`

	terminal.Tabular
	terminal.Hindsight
	terminal.Filters
}

// Help implements kong.HelpProvider.
func (SearchCommand) Help() string {
	return `Without --user, --agent, --project, --team or --org everything counts that you belong to.

Examples:

    annals search "how do I call a rate-limited API?"
    annals search "用户偏好什么语言" --user 123
    annals search "rate limits" --user default --team pay --explain
    annals search "deploy" --type plan --type tool --tag domain=web --limit 3 --json
    annals search "deploy" --as-of 2026-03-01T09:00:00Z
    annals search "deploy" --min-position 42`
}

// Run implements the command.
func (s *SearchCommand) Run(ctx context.Context, c *terminal.Console) error {
	question, err := textOf(c, strings.Join(s.Question, " "), "query", mostAsked)
	if err != nil {
		return err
	}
	at, err := s.Then()
	if err != nil {
		return err
	}
	server, err := s.Connect()
	if err != nil {
		return err
	}
	var found api.SearchAnswer
	a, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"v1", "search"}, Query: s.query(), Body: s.body(question, at),
	}, &found)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	return printAnswer(c, found, s.Tabular, s.Explain)
}

func (s *SearchCommand) query() url.Values {
	if s.MinPosition == 0 {
		return nil
	}
	return url.Values{"min_position": {strconv.FormatInt(s.MinPosition, 10)}}
}

func (s *SearchCommand) body(question, asOf string) api.Search {
	return api.Search{
		Query: question, Context: s.context(), AsOf: api.AsOf(asOf), Limit: s.Limit, MinScore: s.MinScore, Order: s.Order, Level: s.Level, Explain: s.Explain,
		Types: s.Type, ContextType: s.ContextType, Category: s.Category, Tags: tagsOf(s.Tag),
		Owner: s.Owner, Scope: s.Scope, Visibility: s.Visibility, URI: s.URI, Polarity: s.Polarity, Stale: s.IsStale,
	}
}

// Snippet is what one reads of a hit: its situation, and the beginning of what it says.
func (k Knowledge) Snippet(columns int) string {
	said := k.Abstract
	if said == "" {
		said = k.Content
	}
	lines := []string{terminal.OneLine(said, columns)}
	if k.Task != "" {
		lines = []string{terminal.OneLine(k.Task, 80), lines[0]}
	}
	if k.Polarity == "negative" {
		lines[0] = terminal.Amber.Render("[pitfall]") + " " + lines[0]
	}
	return strings.Join(lines, ": ")
}
