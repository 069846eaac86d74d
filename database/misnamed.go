package database

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrMisnamed means that what was named as the database is none, or cannot be one.
var ErrMisnamed = errors.New("no database of ours")

// misnamed is an error that matches [ErrMisnamed] and says why by itself.
type misnamed struct{ error }

func (m misnamed) Is(target error) bool { return target == ErrMisnamed }

func (m misnamed) Unwrap() error { return m.error }

// isNoDirectory refuses a directory where the path of a SQLite file is to be.
func isNoDirectory(path string) error {
	path = strings.TrimPrefix(path, "//")
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return misnamed{fmt.Errorf("%s is a directory: name a file in it, as in sqlite:%s", path, filepath.Join(path, "annals.db"))}
	}
	return nil
}
