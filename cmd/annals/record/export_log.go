package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// provenExport writes the log as it is stored, with what proves it.
func (e exporting) provenExport(ctx context.Context, c *terminal.Console, query url.Values) error {
	server, err := e.Connect()
	if err != nil {
		return err
	}
	progress := terminal.Watch(c, "exporting", 0)
	lines, whole, err := e.copyLines(ctx, c, server, query, progress)
	progress.End()
	switch {
	case err != nil:
		return err
	case e.Output == "":
		return nil
	case c.JSON:
		return c.Document(map[string]any{"file": e.Output, "lines": lines, "whole": whole})
	}
	c.Say("%s and a manifest written to %s\nverify it with: annals verify %s --key PUBLICKEY", terminal.Several(int(lines-1), "event"), e.Output, e.Output)
	return nil
}

// copyLines writes the lines that come; without the last one nothing is whole, and no file appears.
func (e exporting) copyLines(ctx context.Context, c *terminal.Console, server *client.Client, query url.Values, progress *terminal.Progress) (lines int, whole bool, err error) {
	err = terminal.WriteWhole(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		body, err := server.Open(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "export"}, Query: query})
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // it was only read
		from := bufio.NewReaderSize(body, 256<<10)
		for {
			text, err := from.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(text) == 0 && whole {
				return flush()
			}
			if err != nil {
				return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "the export broke off", Fix: "export again; the server's log says why"}
			}
			lines, whole = lines+1, len(text) < 16<<20 && bytes.HasPrefix(text, []byte(`{"manifest"`)) && isManifest(text)
			out.Write(text)
			progress.Add(int64(len(text)), 1)
			if out.Len() > 1<<20 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	})
	return lines, whole, err
}

// isManifest tells whether a line is the last of an export.
func isManifest(line []byte) bool {
	var last struct {
		Manifest json.RawMessage `json:"manifest"`
	}
	return json.Unmarshal(line, &last) == nil && len(last.Manifest) > 0
}
