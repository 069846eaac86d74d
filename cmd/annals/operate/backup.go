package operate

import (
	"context"
	"errors"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/backup"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
)

type BackupCommand struct {
	serve.Storage
	serve.Logging

	To string `arg:"" complete:"file"`
}

func (b *BackupCommand) Run(ctx context.Context, c *terminal.Console) (err error) {
	place, name, err := backup.At(b.To)
	if err != nil {
		return err
	}
	if name == "" {
		name = backup.NewName()
	}
	storage := b.Opened(c)
	db, err := database.OpenReadOnly(ctx, storage.Database, b.Logger(c))
	if errors.Is(err, database.ErrAbsent) {
		return serve.NoDatabase(storage.Database, "name it with --data or --database")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := errors.Join(serve.CheckSchema(ctx, db), serve.CheckTriggers(ctx, db)); err != nil {
		return err
	}
	bar := terminal.Watch(c, "copying rows")
	made, err := place.Put(ctx, name, backup.Source{
		DB: db, Data: storage.Data, Passphrase: serve.BackupPassphrase(), Logger: b.Logger(c),
		Progress: func(rows int64) { bar.Set(rows, 0) },
	})
	bar.End()
	if err != nil {
		return err
	}
	hasKey := made.Key != nil
	if made.Key = nil; c.JSON { // it is shown to nobody
		return c.Document(map[string]any{"backup": place.Address(name), "contents": made})
	}
	c.Say("%s in %s, verified", terminal.Bold.Render(described(made)), place.Address(name))
	switch {
	case !hasKey:
		c.Note("there is no signing key in %s, so the backup has none: name its directory with --data", storage.Data)
	case !made.Encrypted:
		c.Note("it holds the signing key as it is: keep it as safe, or set ANNALS_BACKUP_PASSPHRASE")
	}
	return nil
}

// described says what a backup holds.
func described(c backup.Contents) string {
	parts := []string{humanize.Comma(c.Tables["events"].Rows) + " events"}
	if files := c.Tables["files"].Rows; files > 0 {
		parts = append(parts, terminal.Several(int(files), "file"))
	}
	return strings.Join(parts, " and ")
}

// backedUp is where doctor looks for backups.
type backedUp struct {
	Backup string `env:"ANNALS_BACKUP" placeholder:"PLACE"`
}

// backups notes the newest backup of a place; nothing without a place.
func (e *examination) backups(c *terminal.Console, address string) {
	if address == "" {
		return
	}
	place, err := backup.PlaceAt(address)
	if err != nil {
		e.failed("backup", err)
		return
	}
	name, made, unreadable, err := place.Newest(e.ctx, serve.Logging{LogLevel: "error"}.Logger(c))
	switch {
	case name != "" && err == nil:
		e.note("backup", fine, "", "%s in %s is the newest", described(made), place.Address(name))
	case len(unreadable) > 0 || err == nil:
		e.note("backup", broken, "make one with annals backup "+address, "none in %s can be read", address)
	default:
		e.failed("backup", err)
	}
	if len(unreadable) > 0 {
		e.note("backup", warned, "delete them, and see the server's log", "cannot be read: %s",
			strings.Join(unreadable, ", "))
	}
}
