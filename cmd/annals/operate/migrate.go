package operate

import (
	"context"
	"errors"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections"
)

type MigrateCommand struct {
	serve.Storage
	serve.Logging

	Role  string `env:"ANNALS_DATABASE_ROLE" placeholder:"ROLE"`
	Check bool
}

func (m *MigrateCommand) Run(ctx context.Context, c *terminal.Console) error {
	storage := m.Opened(c)
	if _, isFile := serve.SqliteFile(storage.Database); isFile && m.Role != "" {
		return terminal.Wrong("leave out --role and ANNALS_DATABASE_ROLE: a process that may read the file may do everything",
			"a role is for PostgreSQL: SQLite has none")
	}
	open := database.Open
	if m.Check {
		open = database.OpenReadOnly
	} else if err := storage.CreateDirectory(); err != nil {
		return err
	}
	db, err := open(ctx, storage.Database, m.Logger(c))
	if m.Check && errors.Is(err, database.ErrAbsent) {
		return serve.NoDatabase(storage.Database, "run annals migrate")
	}
	if err != nil {
		return err
	}
	return errors.Join(m.migrate(ctx, c, db, serve.DatabaseName(storage.Database)), db.Close())
}

func (m *MigrateCommand) migrate(ctx context.Context, c *terminal.Console, db *database.DB, name string) error {
	have, want, err := database.Schema(ctx, db)
	if err != nil {
		return err
	}
	if m.Check {
		return m.check(ctx, c, db, name, have, want)
	}
	if err := database.Migrate(ctx, db); err != nil {
		return err
	}
	restored, err := database.RestoreTriggers(ctx, db)
	if err == nil && m.Role != "" {
		err = database.GrantTo(ctx, db, m.Role)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return document(c, name, have, want, have != want, restored)
	}
	if have == want {
		c.Say("%s has schema %d, as it should", name, have)
	} else {
		c.Say("%s: migrated from schema %d to %d", name, have, want)
	}
	if m.Role != "" {
		c.Say("%s may serve: it owns nothing of the log, and can only append to it", m.Role)
	}
	if len(restored) > 0 {
		c.Say("put back what keeps the log from being changed: %s", strings.Join(restored, ", "))
		c.Say("annals verify tells whether it was changed meanwhile")
	}
	return nil
}

// check fails if there is something to migrate or to restore. An outdated schema may have other triggers.
func (m *MigrateCommand) check(
	ctx context.Context, c *terminal.Console, db *database.DB, name string, have, want uint,
) (err error) {
	var missing []string
	if have == want {
		if missing, err = database.MissingTriggers(ctx, db); err != nil {
			return err
		}
	}
	if c.JSON {
		err = document(c, name, have, want, false, missing)
	} else if have == want {
		c.Say("%s has schema %d, as it should", name, have)
	}
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		command, err := database.RestoringCommand(ctx, db)
		if err != nil {
			return err
		}
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "missing or switched off: " + strings.Join(missing, ", "),
			Fix: "run annals verify; " + command + " puts them back",
		}
	case have != want:
		return serve.SchemaFailure(have, want, "run annals migrate")
	}
	return projections.Servable(ctx, db)
}

func document(c *terminal.Console, name string, have, want uint, migrated bool, restored []string) error {
	return c.Document(map[string]any{
		"database": name, "from": have, "to": want, "migrated": migrated,
		"restored": restored,
	})
}
