package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// IsServedAt tells whether the server at an address has this database. PostgreSQL is taken for the server's own, since
// servers share it.
func (s Storage) IsServedAt(address string) bool {
	path, isFile := SqliteFile(s.placed().Database)
	target, wrong := url.Parse(address)
	served, none := url.Parse(database.ServedAt(path)) // under any name of this machine
	return !isFile || wrong == nil && none == nil && served.Host != "" && served.Port() == target.Port()
}

// OtherDatabases are the SQLite files with events in the places where commands look for one, but for that of the server
// at the address, or without an address that of these settings. Earlier, make run used ./data.
func (s Storage) OtherDatabases(ctx context.Context, c *terminal.Console, server string) (others []string) {
	own, _ := SqliteFile(s.placed().Database)
	places := []string{own}
	for _, data := range []string{os.Getenv("ANNALS_DATA"), c.Settings.Values["data"], defaultData(), "data"} {
		places = append(places, filepath.Join(data, "annals.db"))
	}
	var seen []os.FileInfo
	for _, path := range places {
		info, err := os.Stat(path)
		if err != nil || slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			continue
		}
		seen = append(seen, info)
		if server == "" && path == own || server != "" && (Storage{Database: "sqlite:" + path}).IsServedAt(server) {
			continue
		}
		db, err := database.OpenReadOnly(ctx, "sqlite:"+path, Logging{LogLevel: "error"}.Logger(c))
		if err != nil {
			continue
		}
		has, err := db.NewSelect().Table("events").Where("tenant <> ?", domain.SystemTenant).Exists(ctx)
		if err == nil && has {
			others = append(others, Absolute(path))
		}
		_ = db.Close() // it was only read
	}
	return others
}

// DatabaseAt is the SQLite file that a path names, itself or as its data directory; empty if it names none.
func DatabaseAt(path string) string {
	for _, file := range []string{path, filepath.Join(path, "annals.db")} {
		if database.IsSQLite(file) {
			return file
		}
	}
	return ""
}

// OpenCopy serves a copy of a SQLite file in this process, to a client that may read all of it. The file may be in use,
// and stays as it is. The caller calls done at the end.
func OpenCopy(ctx context.Context, c *terminal.Console, path string) (copied *client.Client, done func(), err error) {
	data, err := os.MkdirTemp("", "annals-*")
	if err != nil {
		return nil, nil, err
	}
	cfg := Config{Storage: Storage{Data: data}, Logging: Logging{LogLevel: "error"}, LogName: "annals"}.Complete()
	cfg.RootKey = rand.Text() + rand.Text()
	embedder, _, err := cfg.Choose()
	if err == nil {
		err = copyFile(ctx, path, filepath.Join(data, "annals.db"), cfg.Logger(c))
	}
	var service *Service
	if err == nil {
		service, err = OpenService(ctx, cfg, embedder, nil, cfg.Logger(c))
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(data))
	}
	copied, err = terminal.Remote{APIKey: cfg.RootKey}.Through(client.Inside(service.API.Handler()))
	return copied, func() { _, _ = service.Close(), os.RemoveAll(data) }, err
}

// copyFile copies a SQLite file as it is at this moment. It opens the file itself for reading only.
func copyFile(ctx context.Context, from, to string, logger *slog.Logger) error {
	db, err := database.OpenReadOnly(ctx, "sqlite:"+from, logger)
	if err != nil {
		return err
	}
	if _, absent := db.NewSelect().Table("knowledge").Exists(ctx); absent != nil {
		err = terminal.Wrong("name a database that annals serve has used; annals restore puts backups back",
			"%s has no knowledge of annals", from)
	} else {
		_, err = db.ExecContext(ctx, "PRAGMA query_only(0); VACUUM INTO ?", to)
	}
	return errors.Join(err, db.Close())
}
