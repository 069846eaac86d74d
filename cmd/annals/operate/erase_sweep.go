package operate

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/projections"
)

// partlyErased is why some of what was to be erased was not; the rest was.
type partlyErased struct{ *terminal.Failure }

// Unwrap leads to the failure that is reported.
func (p partlyErased) Unwrap() error { return p.Failure }

// maySweep refuses, before anything is erased, those who may not sweep.
func maySweep(ctx context.Context, server *client.Client) error {
	me, err := server.Whoami(ctx)
	if err == nil && !me.Operates {
		err = &terminal.Failure{
			Code: terminal.ExitRefused, Detail: "purging the files is for operators; nothing was erased",
			Fix: "leave out --sweep, and ask root for annals erase --sweep",
		}
	}
	return err
}

// swept rewrites the files if that was asked for and something may be gone, and otherwise says that it did not.
func (e *EraseCommand) swept(ctx context.Context, c *terminal.Console, server *client.Client, erased error) error {
	_, partly := errors.AsType[partlyErased](erased)
	switch {
	case !e.Sweep:
		return erased
	case e.Plan:
		c.Note("the files are not swept: a plan changes nothing")
		return erased
	case erased != nil && !partly:
		c.Note("the files were not swept; annals erase --sweep does it")
		return erased
	}
	err := sweep(ctx, c, server)
	if err != nil && partly {
		c.Note("%s", terminal.Printable(erased.Error()))
		return err
	}
	return errors.Join(erased, err)
}

// sweepDone is a rewriting of the files.
type sweepDone api.PurgeResult

const rewriting = "rewriting the files: who writes there waits meanwhile"

// sweep lets the server rewrite its files.
func sweep(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var done sweepDone
	c.Note(rewriting)
	if _, err := server.Within(0).Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "erasures", "sweep"}}, &done); err != nil {
		return err
	}
	return done.tell(c)
}

// sweepAsOwner rewrites the files of the database that is named, as whoever the URL names: the owner of the tables,
// where a role serves that owns none. Servers may be running, but for one of a SQLite file.
func (e *EraseCommand) sweepAsOwner(ctx context.Context, c *terminal.Console) error {
	cfg := serve.Config{Storage: e.Opened(c), NoMigrate: true}
	logger := cfg.Logger(c)
	if err := serve.IsThere(ctx, cfg, logger); err != nil {
		return err
	}
	db, err := serve.OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return err
	}
	c.Note(rewriting)
	done, err := projections.SweepFiles(ctx, db, time.Now)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return sweepDone(done).tell(c)
}

// tell says what became of it. What was left is a failure.
func (s sweepDone) tell(c *terminal.Console) error {
	if c.JSON {
		if err := c.Document(s); err != nil {
			return err
		}
	} else {
		for _, note := range s.Notes {
			c.Say("%s", terminal.Printable(note))
		}
	}
	if !s.Complete {
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "not everything was rewritten: the files may still hold what was erased",
			Fix: cmp.Or(s.left(), "run it again when less is going on; docs/privacy.md says what keeps it"),
		}
	}
	if !c.JSON {
		c.Say("%s: the files hold nothing of what was erased", terminal.Green.Render("swept"))
	}
	return nil
}

// left is what is to be done about what is not the server's; empty if all is.
func (s sweepDone) left() string {
	if s.ForOwner == "" {
		return ""
	}
	return "let the owner of what is left do it: " + s.ForOwner
}
