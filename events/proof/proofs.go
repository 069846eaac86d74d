package proof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/annals-kb/annals/domain"
)

// Proofs is a file with the proofs of several events: an answer of GET /v1/reports/known, as JSON or as HTML.
type Proofs struct {
	About  string        `json:"about"`
	On     string        `json:"on"`
	Events []Certificate `json:"proofs"`
}

// The data of a report as HTML are in this element.
var dataBegins, dataEnds = []byte(`<script type="application/json" id="known">`), []byte(`</script>`)

// ReadProofs reads a file with a report. is tells whether the file is meant to be one; the error says what is missing.
func ReadProofs(path string) (r Proofs, is bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return r, false, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	const most = 256 << 20
	text := bufio.NewReader(io.LimitReader(file, most))
	start, _ := text.Peek(64)
	isPage := bytes.HasPrefix(start, []byte("<!DOCTYPE html>"))
	if !isPage && !(bytes.HasPrefix(start, []byte("{")) && bytes.Contains(start, []byte(`"about":`))) {
		return r, false, nil
	}
	data, err := io.ReadAll(text)
	if err != nil {
		return r, true, err
	}
	if isPage {
		_, data, _ = bytes.Cut(data, dataBegins)
		data, _, _ = bytes.Cut(data, dataEnds)
	}
	if json.Unmarshal(data, &r) != nil {
		return r, true, errors.New("the report was changed or breaks off: it has no data that can be read")
	}
	if len(r.Events) == 0 {
		return r, true, errors.New("the report contains no proof")
	}
	return r, true, nil
}

// Check verifies every proof of a report with public keys, and that the events of each item are complete from its
// first to its last one in the report. It returns the checkpoint of the last proof.
func (r Proofs) Check(keys ...string) (signed domain.Checkpoint, err error) {
	versions := map[string]int64{}
	for _, c := range r.Events {
		if signed, err = c.Check(keys...); err != nil {
			return signed, fmt.Errorf("position %d: %w", c.Position, err)
		}
		versions[c.Stream]++
		if c.Record != nil && c.Record.Version != versions[c.Stream] {
			return signed, fmt.Errorf("position %d: an event of %s before it is missing", c.Position, c.Stream)
		}
	}
	return signed, nil
}
