package record

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// ReportCommands are the questions that auditors ask.
type ReportCommands struct {
	Actor     reportActorCommand     `cmd:""`
	Changes   reportChangesCommand   `cmd:""`
	Harm      reportHarmCommand      `cmd:""`
	Stale     reportStaleCommand     `cmd:""`
	Declining reportDecliningCommand `cmd:""`
	Usage     reportUsageCommand     `cmd:""`
	Denials   reportDenialsCommand   `cmd:""`
}

// reporting are the flags of every report.
type reporting struct {
	exporting
	terminal.Tabular

	From   string `group:"events" placeholder:"TIME"`
	To     string `group:"events" placeholder:"TIME"`
	Limit  int    `short:"n" default:"20" placeholder:"N"`
	Format string `enum:",ndjson,csv" default:"" placeholder:"ndjson|csv"`
}

// report asks for a report and prints it by a table of so many heads.
func (r reporting) report(ctx context.Context, c *terminal.Console, name string, query url.Values, heads []string, row func(json.RawMessage) ([]string, error)) error {
	if err := terminal.PutTimes(query, map[string]string{"from": r.From, "to": r.To}); err != nil {
		return err
	}
	path := []string{"v1", "reports", name}
	switch {
	case r.Format == "csv":
		return r.download(ctx, c, asCSV, path, query)
	case r.Format == "ndjson":
		return r.download(ctx, c, asLines, path, query)
	case r.Output != "":
		return terminal.Wrong("add --format csv or --format ndjson", "a file needs a format")
	}
	server, err := r.Connect()
	if err != nil {
		return err
	}
	items, more, err := r.first(ctx, server, path, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	if len(items) == 0 {
		r.Empty(c, "nothing")
		if name == "usage" {
			c.Note("who was given it is on record only if the server was told to record that: ANNALS_RECORD_RETRIEVALS=all, which is off by default")
		}
		return nil
	}
	rows := &terminal.Grid{Heads: heads, Spare: []string{"WHO", "LAST", "WHEN"}}
	for _, raw := range items {
		cells, err := row(raw)
		if err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		rows.Row(cells...)
	}
	if err := r.Show(c, rows); err != nil {
		return err
	}
	if more {
		c.Note("there is more: --limit N shows it, --format csv has all of it")
	}
	return nil
}

// first reads so many items of a list, and tells whether there are more.
func (r reporting) first(ctx context.Context, server *client.Client, path []string, query url.Values) (items []json.RawMessage, more bool, err error) {
	if r.Limit < 1 {
		return nil, false, terminal.NothingAsked(r.Limit)
	}
	page, err := terminal.ReadFirst(ctx, server, path, query, r.Limit, terminal.LargestLogPage)
	return page.Items, page.NextCursor != "", err
}

type reportActorCommand struct {
	reporting

	Actor string `arg:""`
}

// Run implements the command.
func (r *reportActorCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.report(ctx, c, "actor", url.Values{"actor": {r.Actor}}, []string{"#", "WHEN", "WHAT", "WHO", "STREAM"}, deed)
}

func deed(raw json.RawMessage) ([]string, error) {
	var e Event
	err := json.Unmarshal(raw, &e)
	return []string{strconv.FormatInt(e.Position, 10), terminal.Moment(e.RecordedAt), e.What(), e.Who(), terminal.Printable(e.Stream)}, err
}

type reportChangesCommand struct {
	reporting

	Scope string `complete:"scopes" arg:""`
}

// Run implements the command.
func (r *reportChangesCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.report(ctx, c, "changes", url.Values{"scope": {r.Scope}}, []string{"#", "WHEN", "WHO", "ID", "WHAT"}, func(raw json.RawMessage) ([]string, error) {
		var e Event
		err := json.Unmarshal(raw, &e)
		_, id, _ := strings.Cut(e.Stream, ":")
		what := []string{terminal.Joined(": ", e.What(), terminal.OneLine(e.Reason, knowledge.SnippetColumns))}
		for _, change := range e.Changes {
			if e.What() != "remembered" {
				line := changeLine(change, ansi.StringWidth(terminal.Printable(change.Field)), knowledge.SnippetColumns)
				if change.Policy != "" {
					line += " by " + terminal.Printable(change.Policy)
				}
				what = append(what, line)
			}
		}
		return []string{strconv.FormatInt(e.Position, 10), terminal.Moment(e.RecordedAt), e.Who(), terminal.Printable(id), strings.Join(what, " · ")}, err
	})
}

// ranking are the flags of reports that rank knowledge.
type ranking struct {
	reporting

	Scope string `complete:"scopes" group:"filter" placeholder:"SCOPE"`
	Owner string `group:"filter" placeholder:"ENTITY"`
}

func (r ranking) asked() url.Values {
	query := url.Values{}
	terminal.Put(query, "scope", r.Scope)
	terminal.Put(query, "owner", r.Owner)
	return query
}

func (r ranking) rank(ctx context.Context, c *terminal.Console, name string, heads []string, row func(api.ItemStanding) []string) error {
	return r.report(ctx, c, name, r.asked(), slices.Insert(heads, len(heads)-1, terminal.Mark), func(raw json.RawMessage) ([]string, error) {
		var s api.ItemStanding
		err := json.Unmarshal(raw, &s)
		status, expired := s.Status, ""
		if status == "active" {
			status = ""
		}
		if s.Expired {
			expired = "expired"
		}
		cells := row(s)
		return slices.Insert(cells, len(cells)-1, knowledge.AmberIf(terminal.Joined(", ", status, expired))), err
	})
}

type reportHarmCommand struct{ ranking }

// Run implements the command.
func (r *reportHarmCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.rank(ctx, c, "harm", []string{"HARM", "LAST", "HELPFUL", "CONFIDENCE", "ID", "TASK"}, func(s api.ItemStanding) []string {
		return []string{strconv.Itoa(s.Count), terminal.MomentOf(s.Last), strconv.Itoa(domain.Rating{Helpful: s.Helpful}.Others()), fmt.Sprintf("%.2f", s.Confidence), terminal.Printable(s.ID), terminal.OneLine(s.Task, knowledge.SnippetColumns)}
	})
}

type reportStaleCommand struct{ ranking }

// Run implements the command.
func (r *reportStaleCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.rank(ctx, c, "stale", []string{"REPORTS", "LAST", "CONFIDENCE", "ID", "WHY"}, func(s api.ItemStanding) []string {
		return []string{strconv.Itoa(s.Count), terminal.MomentOf(s.Last), fmt.Sprintf("%.2f", s.Confidence), terminal.Printable(s.ID), terminal.OneLine(terminal.Joined(" · ", s.Reason, s.Task), knowledge.SnippetColumns)}
	})
}

type reportDecliningCommand struct{ ranking }

// Run implements the command.
func (r *reportDecliningCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.rank(ctx, c, "declining", []string{"FROM", "TO", "FELL", "LAST", "ID", "TASK"}, func(s api.ItemStanding) []string {
		return []string{
			fmt.Sprintf("%.2f", terminal.OrZero(s.Before)), fmt.Sprintf("%.2f", terminal.OrZero(s.After)), fmt.Sprintf("%.2f", terminal.OrZero(s.Before)-terminal.OrZero(s.After)),
			terminal.MomentOf(s.Last), terminal.Printable(s.ID), terminal.OneLine(s.Task, knowledge.SnippetColumns),
		}
	})
}

// reliance is an occasion on which an item was used, or a request was denied.
type reliance struct{ api.Usage }

func (r reliance) who() string {
	if r.Actor == "" {
		return "nobody known"
	}
	return terminal.Printable(terminal.Joined(" for ", r.Actor, r.OnBehalfOf))
}

type reportUsageCommand struct {
	reporting

	ID    string `complete:"ids" arg:""`
	Actor string `group:"events" placeholder:"ENTITY"`
}

// Run implements the command.
func (r *reportUsageCommand) Run(ctx context.Context, c *terminal.Console) error {
	query := url.Values{"id": {r.ID}}
	terminal.Put(query, "actor", r.Actor)
	return r.report(ctx, c, "usage", query, []string{"WHEN", "HOW", "WHO", "HARM", "TRACE OR REQUEST"}, func(raw json.RawMessage) ([]string, error) {
		var a reliance
		err := json.Unmarshal(raw, &a)
		how, harm, belongs := a.Kind, "none known", a.TraceID
		switch a.Kind {
		case "search":
			how = fmt.Sprintf("search, %d. (%.2f)", a.Rank, a.Score)
		case "list":
			how = fmt.Sprintf("list, %d.", a.Rank)
		}
		switch {
		case a.Before:
			harm = terminal.Amber.Render("before it was known")
		case a.HarmfulAt != nil:
			harm = terminal.Red.Render("though it was known")
		}
		if belongs == "" {
			belongs = a.RequestID
		}
		return []string{terminal.Moment(a.At), how, a.who(), harm, terminal.Printable(belongs)}, err
	})
}

type reportDenialsCommand struct {
	reporting

	Actor string `group:"events" placeholder:"ENTITY"`
}

// Run implements the command.
func (r *reportDenialsCommand) Run(ctx context.Context, c *terminal.Console) error {
	query := url.Values{}
	terminal.Put(query, "actor", r.Actor)
	return r.report(ctx, c, "denials", query, []string{"WHEN", "STATUS", "WHO", "WHAT", "ID"}, func(raw json.RawMessage) ([]string, error) {
		var a reliance
		err := json.Unmarshal(raw, &a)
		return []string{terminal.Moment(a.At), strconv.Itoa(a.Status), a.who(), terminal.Printable(a.Route), terminal.Printable(a.Item)}, err
	})
}
