package record

import (
	"context"
	"strconv"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// ExportCommands are the export commands.
type ExportCommands struct {
	Knowledge exportKnowledgeCommand `cmd:""`
	Files     exportFilesCommand     `cmd:""`
	Markdown  exportMarkdownCommand  `cmd:""`
	Log       exportLogCommand       `cmd:""`
}

type exporting struct {
	terminal.Remote

	Output string `complete:"file" short:"o" placeholder:"FILE"`
}

type exportKnowledgeCommand struct {
	exporting
	terminal.AsOfFlag
	terminal.ListFilters
}

func (e *exportKnowledgeCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := e.Listed(e.AsOfFlag)
	if err != nil {
		return err
	}
	m, err := e.fetch(ctx, c, asLines, []string{"v1", "knowledge"}, query)
	if err != nil || e.Output == "" {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"file": e.Output, "lines": m.Rows})
	}
	c.Say("%d lines written to %s", m.Rows, e.Output)
	return nil
}

type exportLogCommand struct {
	exporting
	logFilters

	After        int64 `group:"events" placeholder:"N"`
	Through      int64 `group:"events" placeholder:"N"`
	WithoutTexts bool

	Format string `enum:"ndjson,csv" default:"ndjson"`
}

func (e *exportLogCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := e.query()
	if err != nil {
		return err
	}
	if e.Format == "csv" {
		if e.After > 0 || e.Through > 0 || e.WithoutTexts {
			return terminal.Wrong("leave out --format csv, or these",
				"--after, --through and --without-texts are for the log as it is stored, and CSV is not")
		}
		return e.download(ctx, c, asCSV, []string{"v1", "events"}, query)
	}
	if len(query) > 0 {
		return terminal.Wrong("leave the filters out, or add --format csv; annals proof event proves a single event",
			"filters are for CSV: the log as it is stored has proofs only as a whole")
	}
	if e.After > 0 {
		query.Set("after", strconv.FormatInt(e.After, 10))
	}
	if e.Through > 0 {
		query.Set("through", strconv.FormatInt(e.Through, 10))
	}
	if e.WithoutTexts {
		query.Set("texts", "false")
	}
	return e.provenExport(ctx, c, query)
}
