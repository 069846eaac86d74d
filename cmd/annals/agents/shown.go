package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// seen is what hooks have told a session: the marks of items, in a file of the user's cache.
type seen struct {
	file  string // empty if the session has no name
	marks []string
}

// shownDir has a file for each session.
func shownDir() (string, error) {
	base, err := os.UserCacheDir()
	return filepath.Join(base, "annals", "shown"), err
}

// shown reads what a session was told. A session that starts has forgotten it, unless it is resumed. Then files that
// are older than a month are removed. What cannot be read was not told.
func shown(host string, in payload) seen {
	const month = 30 * 24 * time.Hour
	dir, err := shownDir()
	if id := in.id(); id != "" && err == nil {
		sum := sha256.Sum256([]byte(host + "\n" + id))
		s := seen{file: filepath.Join(dir, hex.EncodeToString(sum[:16]))}
		if in.Source != "" && in.Source != "resume" {
			_ = os.Remove(s.file)
			files, _ := os.ReadDir(dir)
			for _, f := range files {
				if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > month {
					_ = os.Remove(filepath.Join(dir, f.Name()))
				}
			}
		}
		text, _ := os.ReadFile(s.file)
		s.marks = strings.Fields(string(text))
		s.marks = s.marks[max(0, len(s.marks)-domain.MostShown):]
		return s
	}
	return seen{}
}

// add notes the items that were told.
func (s seen) add(items []api.ContextItem) error {
	var marks strings.Builder
	for _, item := range items {
		if item.Told && item.Mark != "" {
			marks.WriteString(item.Mark + "\n")
		}
	}
	if s.file == "" || marks.Len() == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(s.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(marks.String())
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}
