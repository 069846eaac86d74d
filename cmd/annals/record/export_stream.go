package record

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

// manifest describes a CSV file, so that its recipient can check it.
type manifest struct {
	File       string            `json:"file"`
	Rows       int               `json:"rows"` // without the line of names
	Bytes      int64             `json:"bytes"`
	SHA256     string            `json:"sha256"` // of the file
	Question   string            `json:"question"`
	Server     string            `json:"server"`
	ExportedAt time.Time         `json:"exported_at"`
	Filters    map[string]string `json:"filters,omitempty"`
}

const (
	asCSV   = "text/csv"
	asLines = "application/x-ndjson"
)

// download writes a list as it arrives from the server, a CSV file with its manifest.
func (e exporting) download(
	ctx context.Context, c *terminal.Console, media string, path []string, query url.Values,
) error {
	if media == asCSV && c.JSON && e.Output == "" {
		return terminal.Wrong("leave one of them out; --format ndjson gives all of it as lines of JSON",
			"--format csv and --json contradict each other")
	}
	m, err := e.fetch(ctx, c, media, path, query)
	if err != nil || e.Output == "" {
		return err
	}
	beside := ""
	if media == asCSV {
		beside = ", and what they are to " + e.Output + ".manifest.json"
		if err := m.write(e.Output + ".manifest.json"); err != nil {
			return err
		}
	}
	if c.JSON {
		return c.Document(m)
	}
	c.Say("%d rows written to %s%s", m.Rows, e.Output, beside)
	return nil
}

// fetch writes a list as it arrives from the server. The file appears when it is complete.
func (e exporting) fetch(
	ctx context.Context, c *terminal.Console, media string, path []string, query url.Values,
) (*manifest, error) {
	server, err := e.Connect()
	if err != nil {
		return nil, err
	}
	m := &manifest{
		File: e.Output, Question: "GET /" + strings.Join(path, "/"), Server: server.Server(),
		ExportedAt: time.Now().UTC(), Filters: map[string]string{},
	}
	for name, values := range query {
		m.Filters[name] = strings.Join(values, ",")
	}
	progress := terminal.Watch(c, "exporting")
	err = terminal.WriteFile(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		q := client.Get(path...)
		q.Query, q.Header = query, http.Header{"Accept": {media}}
		body, err := server.Open(ctx, q)
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // it was only read
		return m.copy(body, out, media, func() error {
			progress.Set(int64(m.Rows), 0)
			return flush()
		})
	})
	progress.End()
	return m, err
}

// copy copies a list, and counts and hashes it.
func (m *manifest) copy(from io.Reader, out *bytes.Buffer, media string, flush func() error) error {
	const piece = 64 << 10
	buffer, sum := make([]byte, piece), sha256.New()
	ends := rowEnds{csv: media == asCSV}
	for {
		n, err := from.Read(buffer)
		sum.Write(buffer[:n])
		out.Write(buffer[:n])
		m.Rows, m.Bytes = m.Rows+ends.in(buffer[:n]), m.Bytes+int64(n)
		if flushed := flush(); flushed != nil {
			return flushed
		}
		switch {
		case err == nil:
			continue
		case err != io.EOF: //nolint:errorlint // a body that was cut off wraps another
			return &terminal.Failure{
				Code: terminal.ExitUnavailable, Detail: "the server broke off: " + err.Error(), Fix: "export again; its log " +
					"says why",
			}
		}
		if media == asCSV {
			m.Rows = max(0, m.Rows-1)
		}
		m.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return nil
	}
}

// rowEnds counts rows across reads. A line break inside quotes ends no row of CSV.
type rowEnds struct{ csv, quoted bool }

func (r *rowEnds) in(piece []byte) (rows int) {
	for _, b := range piece {
		switch {
		case b == '"' && r.csv:
			r.quoted = !r.quoted
		case b == '\n' && !r.quoted:
			rows++
		}
	}
	return rows
}

func (m *manifest) write(name string) error {
	encoded, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.WriteFile(name, append(encoded, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// provenExport writes the stored log with its proof.
func (e exporting) provenExport(ctx context.Context, c *terminal.Console, query url.Values) error {
	server, err := e.Connect()
	if err != nil {
		return err
	}
	progress := terminal.Watch(c, "exporting")
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
	c.Say("%s and a manifest written to %s\nverify it with: annals verify %s --key PUBLICKEY",
		terminal.Several(lines-1, "event"), e.Output, e.Output)
	return nil
}

// copyLines writes the stored lines. Without the manifest at the end, the export is incomplete and no file appears.
func (e exporting) copyLines(
	ctx context.Context, c *terminal.Console, server *client.Client, query url.Values, progress *terminal.Progress,
) (lines int, whole bool, err error) {
	err = terminal.WriteFile(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		q := client.Get("v1", "log", "export")
		q.Query = query
		body, err := server.Open(ctx, q)
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
				return &terminal.Failure{
					Code: terminal.ExitUnavailable, Detail: "the export broke off", Fix: "export again; the server's log says why",
				}
			}
			lines, whole = lines+1, len(text) < 16<<20 && bytes.HasPrefix(text, []byte(`{"manifest"`)) && isManifest(text)
			out.Write(text)
			progress.Set(int64(lines), 0)
			if out.Len() > 1<<20 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	})
	return lines, whole, err
}

// isManifest tells whether a line is the manifest, the last line of an export.
func isManifest(line []byte) bool {
	var last struct {
		Manifest json.RawMessage `json:"manifest"`
	}
	return json.Unmarshal(line, &last) == nil && len(last.Manifest) > 0
}
