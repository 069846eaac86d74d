package record

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// ReportCommands are the reports for auditors.
type ReportCommands struct {
	Actor     reportActorCommand     `cmd:""`
	Changes   reportChangesCommand   `cmd:""`
	Harm      reportHarmCommand      `cmd:""`
	Stale     reportStaleCommand     `cmd:""`
	Declining reportDecliningCommand `cmd:""`
	Access    reportAccessCommand    `cmd:""`
	Health    reportHealthCommand    `cmd:""`
	Known     reportKnownCommand     `cmd:""`
}

// reporting are the flags of every report.
type reporting struct {
	exporting
	terminal.Tabular

	Limit  int    `short:"n" default:"20" placeholder:"N"`
	Format string `enum:",ndjson,csv" default:"" placeholder:"ndjson|csv"`
}

// periodic are the flags of the reports about a period.
type periodic struct {
	reporting

	From string `group:"events" placeholder:"TIME"`
	To   string `group:"events" placeholder:"TIME"`
}

func (p periodic) put(query url.Values) (reporting, error) {
	return p.reporting, terminal.PutTimes(query, map[string]string{"from": p.From, "to": p.To})
}

func (r reporting) put(url.Values) (reporting, error) { return r, nil }

// report requests a report with the flags of a command and prints it as a table.
func report[T any](
	ctx context.Context, c *terminal.Console, flags interface {
		put(query url.Values) (reporting, error)
	},
	name string, query url.Values, heads []string, row func(T) []any,
) error {
	r, err := flags.put(query)
	if err != nil {
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
	page, err := terminal.ReadFirst[terminal.Kept[T]](ctx, server, path, query, r.Limit)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": page.Items})
	}
	if len(page.Items) == 0 {
		r.Empty(c, "nothing")
		return nil
	}
	rows := terminal.NewTable(heads...)
	rows.Spare = []string{"WHO", "LAST", "WHEN"}
	for _, item := range page.Items {
		rows.Row(row(item.Value)...)
	}
	if err := r.Show(c, rows); err != nil {
		return err
	}
	if page.NextCursor != "" {
		c.Note("there is more: --limit N shows it, --format csv has all of it")
	}
	return nil
}

type reportActorCommand struct {
	periodic

	Actor string `arg:""`
}

func (r *reportActorCommand) Run(ctx context.Context, c *terminal.Console) error {
	return report(ctx, c, r, "actor", url.Values{"actor": {r.Actor}}, eventHeads, eventRow)
}

type reportChangesCommand struct {
	periodic

	Scope string `complete:"scopes" arg:""`
}

func (r *reportChangesCommand) Run(ctx context.Context, c *terminal.Console) error {
	heads := []string{"#", "WHEN", "WHO", "ID", "WHAT"}
	return report(ctx, c, r, "changes", url.Values{"scope": {r.Scope}}, heads, func(e Event) []any {
		_, id, _ := strings.Cut(e.Stream, ":")
		what := terminal.Markup(terminal.Joined(": ", e.What(), terminal.OneLine(e.Reason, knowledge.SnippetColumns)))
		for _, change := range e.Changes {
			if e.What() != "remembered" {
				what += " · " + changeLine(change, ansi.StringWidth(change.Field), knowledge.SnippetColumns)
				if change.Policy != "" {
					what += terminal.Markupf(" by %s", change.Policy)
				}
			}
		}
		return []any{fmt.Sprint(e.Position), e.RecordedAt, e.Who(), id, what}
	})
}

// ranking are the flags of reports that rank knowledge.
type ranking struct {
	periodic

	Scope string `complete:"scopes" group:"filter" placeholder:"SCOPE"`
	Owner string `group:"filter" placeholder:"ENTITY"`
}

func (r ranking) rank(
	ctx context.Context, c *terminal.Console, name string, heads []string, row func(api.ItemStanding) []any,
) error {
	query := url.Values{}
	terminal.Put(query, "scope", r.Scope)
	terminal.Put(query, "owner", r.Owner)
	heads = slices.Insert(heads, len(heads)-1, terminal.Mark)
	return report(ctx, c, r, name, query, heads, func(s api.ItemStanding) []any {
		status, expired := s.Status, ""
		if status == "active" {
			status = ""
		}
		if s.Expired {
			expired = "expired"
		}
		cells := row(s)
		mark := terminal.Amber.Render(terminal.Joined(", ", status, expired))
		return slices.Insert(cells, len(cells)-1, any(mark))
	})
}

type reportHarmCommand struct{ ranking }

func (r *reportHarmCommand) Run(ctx context.Context, c *terminal.Console) error {
	heads := []string{"HARM", "LAST", "HELPFUL", "CONFIDENCE", "ID", "TASK"}
	return r.rank(ctx, c, "harm", heads, func(s api.ItemStanding) []any {
		helpful := domain.Rating{Helpful: s.Helpful}.Others()
		return []any{s.Count, s.Last, helpful, score(&s.Confidence), s.ID, terminal.OneLine(s.Task, knowledge.SnippetColumns)}
	})
}

type reportStaleCommand struct{ ranking }

func (r *reportStaleCommand) Run(ctx context.Context, c *terminal.Console) error {
	heads := []string{"REPORTS", "LAST", "CONFIDENCE", "ID", "WHY"}
	return r.rank(ctx, c, "stale", heads, func(s api.ItemStanding) []any {
		why := terminal.OneLine(terminal.Joined(" · ", s.Reason, s.Task), knowledge.SnippetColumns)
		return []any{s.Count, s.Last, score(&s.Confidence), s.ID, why}
	})
}

type reportDecliningCommand struct{ ranking }

func (r *reportDecliningCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.rank(ctx, c, "declining", []string{"FROM", "TO", "FELL", "LAST", "ID", "TASK"},
		func(s api.ItemStanding) []any {
			fell := terminal.OrZero(s.Before) - terminal.OrZero(s.After)
			task := terminal.OneLine(s.Task, knowledge.SnippetColumns)
			return []any{score(s.Before), score(s.After), score(&fell), s.Last, s.ID, task}
		})
}

func score(value *float64) string { return fmt.Sprintf("%.2f", terminal.OrZero(value)) }

type reportAccessCommand struct {
	reporting
	terminal.AsOfFlag

	Scope string `complete:"scopes" arg:""`
}

func (r *reportAccessCommand) Run(ctx context.Context, c *terminal.Console) error {
	query := url.Values{"scope": {r.Scope}}
	asOf, err := r.AsOfParameter()
	if err != nil {
		return err
	}
	if asOf != "" {
		query.Set("as_of", asOf)
	}
	heads := []string{"WHO", "WHY", "SINCE"}
	return report(ctx, c, r, "access", query, heads, func(one api.ScopeReader) []any {
		return []any{one.Subject, whyItReads(one), one.Since}
	})
}

func whyItReads(r api.ScopeReader) string {
	switch r.Reason {
	case "directory":
		return r.Role + " of " + strings.Join(r.Through, ", which belongs to ")
	case "key":
		return "its key " + r.Key + " says that it belongs there"
	case "role":
		return "its key " + r.Key + " has the role " + r.Role
	case "acts_for":
		return "its key " + r.Key + " may act for those who read it"
	case "self":
		if r.Key != "" {
			return "it has the key " + r.Key
		}
		return "it is in the directory"
	}
	return r.Reason
}

type reportHealthCommand struct {
	reporting

	Scope string `complete:"scopes" group:"filter" placeholder:"SCOPE"`
}

func (r *reportHealthCommand) Run(ctx context.Context, c *terminal.Console) error {
	query := url.Values{}
	terminal.Put(query, "scope", r.Scope)
	heads := []string{"SCOPE", "ITEMS", "VERIFIED", "STALE", "CONTESTED", "OVERDUE", "UNOWNED", "MEDIAN AGE"}
	return report(ctx, c, r, "health", query, heads, func(h api.ScopeHealth) []any {
		share := func(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
		return []any{
			h.Scope, h.Items, share(h.Verified), share(h.Stale), share(h.Contested), share(h.Overdue), share(h.Unowned),
			fmt.Sprintf("%.0fd", h.MedianAge),
		}
	})
}
