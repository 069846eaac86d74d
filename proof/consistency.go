package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// Continuation is a consistency proof as a file: that the log which was signed later begins with the one that was
// signed earlier.
type Continuation struct {
	Earlier string   `json:"earlier"` // signed notes
	Later   string   `json:"later"`
	Path    []string `json:"path"` // base64
}

// ReadContinuation reads a file that holds one. It tells whether the file does.
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
		return fmt.Errorf("the proof is wrong: the log of %d events does not begin with the one of %d events", later.Size, earlier.Size)
	}
	return nil
}
