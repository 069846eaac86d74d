package operate

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
)

// embedder says what a server started here would use.
func (e *examination) embedder(settings serve.Embedder) {
	chosen, why, err := settings.Choose()
	if err != nil {
		e.failed("embedder", err)
		return
	}
	e.note("embedder", fine, "", "a server started here would use %s: %s", chosen.Name(), why)
}

func (e *examination) database(ctx context.Context, c *terminal.Console, address string) {
	if path, isFile := serve.SqliteFile(address); isFile {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // opening would make it
			e.note("database", warned, "annals serve makes it", "%s is not there yet", path)
			return
		}
	}
	db, err := database.Open(ctx, address, serve.Logging{LogLevel: "error"}.Logger(c))
	if err != nil {
		e.failed("database", err)
		return
	}
	have, want, err := db.Schema(ctx)
	switch {
	case err != nil:
		e.failed("database", err)
	case have > want:
		e.note("database", broken, "use a newer annals", "%s has schema %d, this annals knows %d", serve.DatabaseName(address), have, want)
	case have < want:
		e.note("database", warned, "run annals migrate, or let annals serve do it", "%s has schema %d, this annals needs %d", serve.DatabaseName(address), have, want)
	default:
		e.note("database", fine, "", "%s has schema %d, as it should", serve.DatabaseName(address), have)
		if walls, err := serve.WallsOf(db)(ctx); err != nil {
			e.failed("walls", err)
		} else {
			e.wallsAre(walls)
		}
	}
	if err := db.Close(); err != nil {
		e.failed("database", err)
	}
}
