package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

// shownFailures is how many failed lines are printed; --errors writes all of them.
const shownFailures = 20

// failures collects the failed lines of an import.
type failures struct {
	first []failedLine
	name  string // of the file for all of them; empty without --errors
	file  io.Closer
	out   *bufio.Writer // nil until begin
}

// failedLine is a failed line with its problem, and with --errors its content.
type failedLine struct {
	File   string          `json:"file,omitempty"` // of a directory
	Line   int             `json:"line"`
	ID     string          `json:"id,omitempty"`
	Error  *api.Problem    `json:"error"`
	Record json.RawMessage `json:"record,omitempty"` // the line; as a string if it is no JSON

	place string
}

// keepFailures prepares the file of failed lines. It refuses a file that the import reads, which it would empty.
func keepFailures(c *terminal.Console, name string, all []source) (*failures, error) {
	kept, err := os.Stat(name)
	if err != nil || !kept.Mode().IsRegular() {
		return &failures{name: name}, nil // begin reports an invalid name
	}
	for _, from := range all {
		if read, err := from.stat(c); err == nil && os.SameFile(read, kept) {
			return nil, terminal.Wrong("name another file", "--errors %s is what is imported: it would be overwritten", name)
		}
	}
	return &failures{name: name}, nil
}

// begin empties the file, so that it has no lines of an earlier import. A second call does nothing. Call it after the
// input was opened: an import that reads nothing must not change the file.
func (f *failures) begin() error {
	if f.name == "" || f.out != nil {
		return nil
	}
	file, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return terminal.Wrong("name a file that can be written", "%s", err)
	}
	f.file, f.out = file, bufio.NewWriter(file)
	return nil
}

func (f *failures) add(from source, r Record, a lineAnswer) error {
	if _, says := membersOf(r.Raw)["id"]; !says {
		a.ID = "" // the import has made up the id
	}
	line := failedLine{
		File: from.laid, Line: r.Number, ID: a.ID, Error: a.Error,
		place: terminal.Joined(", ", from.laid, r.Place),
	}
	if from.notes {
		var note struct {
			From string `json:"causation_id"`
		}
		_ = json.Unmarshal(r.Raw, &note) // the import has written it
		line.File = strings.TrimPrefix(note.From, "file:")
		line.place, line.ID = line.File, ""
	}
	if len(f.first) < shownFailures {
		f.first = append(f.first, line)
	}
	if f.out == nil {
		return nil
	}
	line.Record = r.Raw
	if !json.Valid(r.Raw) {
		line.Record, _ = json.Marshal(string(r.Raw))
	}
	encoded, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode failed line %d: %w", r.Number, err)
	}
	if _, err := f.out.Write(append(encoded, '\n')); err != nil {
		return fmt.Errorf("write failed lines: %w", err)
	}
	return nil
}

// refused adds an item of a note to the file. An error is that of close.
func (f *failures) refused(item markdown.Item, why *terminal.Failure) {
	if f.out == nil {
		return
	}
	record, _ := json.Marshal(item) // it was read from text
	_ = json.NewEncoder(f.out).Encode(failedLine{
		File: strings.TrimPrefix(item.Origin, "file:"), Record: record,
		Error: &api.Problem{Title: "Refused", Status: why.Status, Detail: why.Line()},
	})
}

func (f *failures) close() error {
	if f.out == nil {
		return nil
	}
	if err := errors.Join(f.out.Flush(), f.file.Close()); err != nil {
		return fmt.Errorf("write failed lines: %w", err)
	}
	return nil
}

// print shows the first failed lines, with a line for each bad field.
func (f *failures) print(c *terminal.Console, all int) {
	for _, line := range f.first {
		why := terminal.ProblemOf(*line.Error)
		c.Note("%s: %s", line.place, terminal.Joined(": ", line.ID, why.Detail))
		for _, field := range why.Fields {
			c.Note("  %s: %s", field.Field, field.Message)
		}
		if why.Fix != "" {
			c.Note("  → %s", why.Fix)
		}
	}
	if more := all - len(f.first); more > 0 {
		c.Note("… and %d more; --errors FILE keeps them all", more)
	}
}
