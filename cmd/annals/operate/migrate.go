package operate

import (
	"context"
	"errors"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
)

type MigrateCommand struct {
	serve.Storage
	serve.Logging

	Role  string `env:"ANNALS_DATABASE_ROLE" placeholder:"ROLE"`
	Check bool
}

// Run implements the command.
func (m *MigrateCommand) Run(ctx context.Context, c *terminal.Console) error {
	storage := m.Opened(c)
	if _, isFile := serve.SqliteFile(storage.Database); isFile && m.Role != "" {
		return terminal.Wrong("leave out --role and ANNALS_DATABASE_ROLE: whoever may read the file may do everything", "a role is for PostgreSQL: SQLite has none")
	}
	open := database.Open
	if m.Check {
		open = database.OpenReadOnly
	} else if err := storage.MakeRoom(); err != nil {
		return err
	}
	db, err := open(ctx, storage.Database, m.Logger(c))
	if m.Check && errors.Is(err, database.ErrAbsent) {
		return serve.NotMade(storage.Database, "run annals migrate")
	}
	if err != nil {
		return err
	}
	return errors.Join(m.migrate(ctx, c, db, serve.DatabaseName(storage.Database)), db.Close())
}

func (m *MigrateCommand) migrate(ctx context.Context, c *terminal.Console, db *database.DB, name string) error {
	have, want, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	if !m.Check {
		if err := db.Migrate(ctx); err != nil {
			return err
		}
	}
	restored, err := m.guards(ctx, db, m.Check && have != want)
	if err != nil {
		return err
	}
	if m.Role != "" && !m.Check {
		if err := db.GrantTo(ctx, m.Role); err != nil {
			return err
		}
	}
	if c.JSON {
		err = c.Document(map[string]any{"database": name, "from": have, "to": want, "migrated": !m.Check && have != want, "restored": restored})
	} else if have == want {
		c.Say("%s has schema %d, as it should", name, have)
	} else if !m.Check {
		c.Say("%s: migrated from schema %d to %d", name, have, want)
	}
	if m.Role != "" && !m.Check && !c.JSON {
		c.Say("%s may serve: it owns nothing of the log, and can only append to it", m.Role)
	}
	if len(restored) > 0 && !m.Check && !c.JSON {
		c.Say("put back what keeps the log from being changed: %s\nannals verify tells whether somebody changed it meanwhile", strings.Join(restored, ", "))
	}
	if err == nil && m.Check && len(restored) > 0 {
		err = &terminal.Failure{Code: terminal.ExitFailed, Detail: "somebody took away, or switched off, " + strings.Join(restored, ", "), Fix: "run annals verify, and annals migrate, which puts them back"}
	}
	if err == nil && m.Check && have != want {
		err = serve.OtherSchema(have, want, "run annals migrate")
	}
	return err
}

// guards puts the triggers back that keep the log from being changed, or says which it would; a schema that is to
// be migrated first has others.
func (m *MigrateCommand) guards(ctx context.Context, db *database.DB, outdated bool) ([]string, error) {
	switch {
	case outdated:
		return nil, nil
	case m.Check:
		return db.MissingTriggers(ctx)
	}
	return db.RestoreTriggers(ctx)
}
