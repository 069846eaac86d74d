package operate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/projections/erasure"
)

// verify ends an erasure. With --purge it purges the files if something was erased; otherwise it reports until when
// they hold the erased texts.
func (e *EraseCommand) verify(
	ctx context.Context, c *terminal.Console, server *client.Client, erased bool, failed error,
) error {
	switch {
	case !e.Purge && erased && !c.JSON:
		notePurge(ctx, c, server)
		return failed
	case !e.Purge:
		return failed
	case e.Plan:
		c.Note("the files are not purged: a plan changes nothing")
		return failed
	case failed != nil && !erased:
		c.Note("the files were not purged; annals erase --purge does it")
		return failed
	}
	c.Note(rewriting)
	var done api.PurgeResult
	_, err := server.Within(0).Do(ctx, client.Post(nil, "v1", "erasures", "purge"), &done)
	if err == nil {
		err = printPurge(c, done)
	}
	if err != nil && failed != nil {
		c.Note("%s", failed)
		return err
	}
	return errors.Join(failed, err)
}

// notePurge reports whether the files still hold erased texts, and until when.
func notePurge(ctx context.Context, c *terminal.Console, server *client.Client) {
	var status api.Erasures
	_, err := server.Do(ctx, client.Get("v1", "erasures"), &status)
	now := cmp.Or(forOwner(status.ForOwner), "annals erase --purge does it now")
	switch {
	case err != nil: // only admins and auditors may see the time
		c.Note("the files of the database may hold the text until the server purges it, by default within 24 hours")
	case status.Unpurged == 0:
	case status.PurgeBy == nil:
		c.Note("the text still lies in the files of the database\nthis server does not purge it by itself; %s", now)
	default:
		c.Note("the text still lies in the files of the database\npurged by %s; %s", status.PurgeBy, now)
	}
}

// mayPurge refuses callers who may not purge, before the command erases anything.
func mayPurge(ctx context.Context, server *client.Client) error {
	me, err := server.Whoami(ctx)
	if err == nil && !me.Operates {
		err = &terminal.Failure{
			Code: terminal.ExitRefused, Detail: "purging the files is for operators; nothing was erased",
			Fix: "leave out --purge, and ask root for annals erase --purge",
		}
	}
	return err
}

const rewriting = "rewriting the files: writers wait meanwhile"

// purgeAsOwner rewrites the files of the named database as the role of its URL. If the server's role owns no tables,
// that must be the owner of the tables. Servers may run, except one of a SQLite file.
func (e *EraseCommand) purgeAsOwner(ctx context.Context, c *terminal.Console) error {
	cfg := serve.Config{Storage: e.Opened(c), NoMigrate: true}
	logger := cfg.Logger(c)
	if err := serve.CheckExists(ctx, cfg, logger); err != nil {
		return err
	}
	db, err := serve.OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return err
	}
	c.Note(rewriting)
	done, err := erasure.PurgeFiles(ctx, db, time.Now)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return printPurge(c, api.PurgeResult(done))
}

// printPurge shows the result of a purge. An incomplete one is a failure.
func printPurge(c *terminal.Console, done api.PurgeResult) error {
	if c.JSON {
		if err := c.Document(done); err != nil {
			return err
		}
	} else {
		for _, note := range done.Notes {
			c.Say("%s", note)
		}
	}
	if !done.Complete {
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "not everything was rewritten: the files may still hold what was erased",
			Fix: cmp.Or(forOwner(done.ForOwner), "run it again when less is going on; docs/privacy.md says what keeps it"),
		}
	}
	if !c.JSON {
		c.Say("%s: the files hold nothing of what was erased", terminal.Green.Render("purged"))
	}
	return nil
}

// forOwner is the fix for files that only the owner of the tables can purge; empty if the server can.
func forOwner(command string) string {
	if command == "" {
		return ""
	}
	return "let the owner of what is left do it: " + command
}
