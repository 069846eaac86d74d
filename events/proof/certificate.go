package proof

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// ReadCertificate reads a file with one inclusion proof. is tells whether the file is meant to be one, instead of an
// export; the error says what is missing.
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
var ErrNeither = errors.New("the file is neither an exported log, " +
	"nor the proof of an event, nor the certificate of an erasure")

// isExport reports whether a file begins like an export, with a record or the manifest. An empty file may have been
// one.
func isExport(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || bytes.HasPrefix(text, []byte(`{"tenant":`)) || bytes.HasPrefix(text, []byte(`{"manifest":`))
}

// Receipt is the receipt of one event of a write. Position and hash are empty if only the id is known.
type Receipt struct {
	EventID  string
	Position int64
	Hash     string // hexadecimal
}

// ParseReceipt reads an id, a position and a hash.
func ParseReceipt(words []string) (r Receipt, err error) {
	if len(words) != 3 {
		return r, errors.New("a receipt is an id, a position and a hash")
	}
	r.EventID, r.Hash = words[0], strings.ToLower(words[2])
	if r.Position, err = strconv.ParseInt(words[1], 10, 64); err != nil || r.Position < 1 {
		return r, errors.New("the receipt's position is none")
	}
	if _, err := hex.DecodeString(r.Hash); err != nil {
		return r, errors.New("the receipt's hash is none")
	}
	return r, nil
}

// Check refuses a proof of another event than the receipt's, or with another position or hash. [Certificate.Check]
// verifies the proof itself.
func (r Receipt) Check(c Certificate) error {
	switch {
	case c.EventID != r.EventID, c.Record != nil && c.Record.EventID != r.EventID:
		return fmt.Errorf("the proof is of another event than %s", r.EventID)
	case r.Hash == "":
		return nil
	case c.Position != r.Position:
		return fmt.Errorf("the receipt says position %d, and the event is at %d", r.Position, c.Position)
	case !strings.EqualFold(c.Hash, r.Hash):
		return fmt.Errorf("at position %d is another record than the one of which the receipt has the hash", r.Position)
	}
	return nil
}

// Continuation is a consistency proof as a file: the log of the later checkpoint begins with the log of the earlier
// one.
type Continuation struct {
	Earlier string   `json:"earlier"` // signed notes
	Later   string   `json:"later"`
	Path    []string `json:"path"` // base64
}

// ReadContinuation reads a file with a consistency proof. is tells whether the file is one.
func ReadContinuation(path string) (c Continuation, is bool) {
	const most = 1 << 20 // bytes
	if about, err := os.Stat(path); err != nil || about.Size() > most {
		return c, false
	}
	text, err := os.ReadFile(path)
	return c, err == nil && json.Unmarshal(text, &c) == nil && c.Earlier != "" && c.Later != ""
}

// Check verifies a proof with public keys. The error says what is wrong with it.
func (c Continuation) Check(keys ...string) (earlier, later domain.Checkpoint, err error) {
	if earlier, err = Open(c.Earlier, keys...); err != nil {
		return earlier, later, fmt.Errorf("the earlier checkpoint: %w", err)
	}
	if later, err = Open(c.Later, keys...); err != nil {
		return earlier, later, fmt.Errorf("the later checkpoint: %w", err)
	}
	switch {
	case earlier.Origin != later.Origin:
		return earlier, later, fmt.Errorf("the checkpoints are of two logs, %s and %s", earlier.Origin, later.Origin)
	case later.Size < earlier.Size:
		return earlier, later, errors.New("the earlier checkpoint has more events than the later one: the log was cut")
	case earlier.Size == 0:
		return earlier, later, nil
	}
	return earlier, later, CheckConsistency(earlier, later, c.Path)
}

// CheckConsistency verifies that the tree of a later checkpoint begins with that of an earlier one.
func CheckConsistency(earlier, later domain.Checkpoint, path []string) error {
	hashes, err := hashesOf(path)
	if err != nil {
		return err
	}
	if earlier.Size == later.Size && earlier.Root == later.Root {
		return nil
	}
	if tlog.CheckTree(hashes, later.Size, tlog.Hash(later.Root), earlier.Size, tlog.Hash(earlier.Root)) != nil {
		return fmt.Errorf("the proof is wrong: the log of %d events does not begin with the one of %d events", later.Size,
			earlier.Size)
	}
	return nil
}
