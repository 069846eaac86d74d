package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ReadCertificate reads a file that holds one inclusion proof. It tells whether the file is to be one, and no
// export; the error says what is missing of it.
func ReadCertificate(path string) (c Certificate, is bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return c, false, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil || isExport(text) {
		return c, false, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		if bytes.Contains(text, []byte(`"checkpoint"`)) || bytes.Contains(text, []byte(`"event_id"`)) {
			return c, true, errors.New("the certificate was changed or breaks off: it is no JSON any more")
		}
		return c, true, ErrNeither
	}
	for _, name := range []string{"checkpoint", "hash", "position", "path"} {
		if _, there := fields[name]; !there {
			if fields["checkpoint"] == nil && fields["path"] == nil {
				return c, true, ErrNeither
			}
			return c, true, fmt.Errorf("the certificate has no %s", name)
		}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
		if !is {
			return c, true, err
		}
		return c, true, fmt.Errorf("the certificate's %s is a %s, and should be none", wrong.Field, wrong.Value)
	}
	if c.Checkpoint.Note == "" {
		return c, true, errors.New("the certificate's checkpoint has no note, which is what was signed")
	}
	return c, true, nil
}

// ErrNeither says that a file is nothing that can be verified.
var ErrNeither = errors.New("the file is neither an exported log, nor the proof of an event, nor the certificate of an erasure")

// isExport tells whether a file begins as exports do, with a record or the manifest; an empty one may have been.
func isExport(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || bytes.HasPrefix(text, []byte(`{"tenant":`)) || bytes.HasPrefix(text, []byte(`{"manifest":`))
}
