package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// manifest says what is in a file of CSV, so that whoever gets both can tell whether it is whole.
type manifest struct {
	File       string            `json:"file"`
	Rows       int               `json:"rows"` // without the head
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

// download writes a list as the server sends it, as it comes. A file appears when all of it is there, one
// of CSV with its manifest beside it.
func (e exporting) download(ctx context.Context, c *terminal.Console, media string, path []string, query url.Values) error {
	if media == asCSV && c.JSON && e.Output == "" {
		return terminal.Wrong("leave one of them out; --format ndjson gives all of it as lines of JSON", "--format csv and --json contradict each other")
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	m := manifest{
		File: e.Output, Question: "GET /" + strings.Join(path, "/"), Server: server.Server(),
		ExportedAt: time.Now().UTC(), Filters: map[string]string{},
	}
	for name, values := range query {
		m.Filters[name] = strings.Join(values, ",")
	}
	progress := terminal.Watch(c, "exporting", 0)
	err = terminal.WriteWhole(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		body, err := server.Open(ctx, client.Request{Method: http.MethodGet, Path: path, Query: query, Header: http.Header{"Accept": {media}}})
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // it was only read
		return m.copy(body, out, media, func(rows int) error {
			progress.Add(int64(out.Len()), rows)
			return flush()
		})
	})
	progress.End()
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

// copy counts and hashes what goes through.
func (m *manifest) copy(from io.Reader, out *bytes.Buffer, media string, flush func(rows int) error) error {
	const piece = 64 << 10
	buffer, sum := make([]byte, piece), sha256.New()
	ends := rowEnds{csv: media == asCSV}
	for {
		n, err := from.Read(buffer)
		sum.Write(buffer[:n])
		out.Write(buffer[:n])
		rows := ends.in(buffer[:n])
		m.Rows, m.Bytes = m.Rows+rows, m.Bytes+int64(n)
		if flushed := flush(rows); flushed != nil {
			return flushed
		}
		switch {
		case err == nil:
			continue
		case err != io.EOF: //nolint:errorlint // a body that was cut off wraps another
			return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "the server broke off: " + err.Error(), Fix: "export again; its log says why"}
		}
		if media == asCSV {
			m.Rows = max(0, m.Rows-1)
		}
		m.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return nil
	}
}

// rowEnds counts rows, piece by piece: in CSV, line breaks inside quotes end none.
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
