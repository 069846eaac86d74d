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

	Question []string `field:"query" arg:""`

	audience

	Limit    *int     `short:"n" placeholder:"N"`
	MinScore *float64 `placeholder:"0…1"`
	Order    string   `complete:"orders" placeholder:"WORD"`
	Level    *int     `placeholder:"0…2"`
	Explain  bool

	MinPosition int64 `placeholder:"N"`

	terminal.Tabular
	terminal.Hindsight
	terminal.Filters
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
