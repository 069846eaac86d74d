package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/signing"
)

// isAbsentFile tells whether the database is a file that does not exist, which opening it would create.
func isAbsentFile(address string) bool {
	path, isFile := SqliteFile(address)
	if !isFile {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// DatabaseIsEmpty tells whether the database does not exist or has no tables.
func DatabaseIsEmpty(ctx context.Context, address string, logger *slog.Logger) (bool, error) {
	db, err := database.OpenReadOnly(ctx, address, logger)
	if errors.Is(err, database.ErrAbsent) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	have, _, err := database.Schema(ctx, db)
	return have == 0, errors.Join(err, db.Close())
}

// NoDatabase is the failure of a command that needs an existing database.
func NoDatabase(address, fix string) error {
	return &terminal.Failure{
		Code:   terminal.ExitFailed,
		Detail: fmt.Sprintf("there is no database yet: %s", DatabaseName(address)), Fix: fix,
	}
}

// checkData refuses a path that cannot be a data directory.
func checkData(directory string) error {
	info, err := os.Stat(directory)
	switch {
	case err == nil && !info.IsDir():
		return unusableData(fmt.Errorf("%s is a file", directory))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unusableData(err)
	}
	return nil
}

func CreateData(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return unusableData(err)
	}
	return nil
}

func unusableData(err error) error {
	return terminal.Wrong("name another with --data DIR or ANNALS_DATA", "the data directory cannot be made: %s", err)
}

// CreateDirectory creates the data directory if the database is in it.
func (s Storage) CreateDirectory() error {
	if path, isFile := SqliteFile(s.Database); isFile && filepath.Dir(path) == filepath.Clean(s.Data) {
		return CreateData(s.Data)
	}
	return nil
}

// signingKey is the key that signs the log; it is created if there is none.
func (c Config) signingKey() (signing.Key, error) {
	if err := CreateData(c.Data); err != nil {
		return signing.Key{}, err
	}
	return signing.EnsureKey(c.Data, c.LogName)
}

// isOpenWithoutKeys tells whether the server is in no-auth mode while there are no keys.
func (c Config) isOpenWithoutKeys() bool { return c.RootKey == "" && c.issuer() == "" }
