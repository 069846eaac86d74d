package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// ExportCommands are the export commands.
type ExportCommands struct {
	Knowledge exportKnowledgeCommand `cmd:""`
	Files     exportFilesCommand     `cmd:""`
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

// Run implements the command.
func (e *exportKnowledgeCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := e.Listed(e.AsOfFlag)
	if err != nil {
		return err
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	query.Set("limit", strconv.Itoa(terminal.LargestPage))
	progress := terminal.Watch(c, "exporting")
	written := 0
	err = terminal.WriteFile(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		for page, err := range client.Pages[json.RawMessage](ctx, server, []string{"v1", "knowledge"}, query) {
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				if err := json.Compact(out, item); err != nil {
					return fmt.Errorf("read the server's answer: %w", err)
				}
				out.WriteByte('\n')
			}
			written += len(page.Items)
			progress.Set(int64(written), 0)
			if err := flush(); err != nil {
				return err
			}
		}
		return nil
	})
	progress.End()
	if err != nil || e.Output == "" {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"file": e.Output, "lines": written})
	}
	c.Say("%d lines written to %s", written, e.Output)
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

// Run implements the command.
func (e *exportLogCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := e.asked()
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
