package operate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/projections"
)

// exportList writes the erasures in the log, and the keys that were revoked, rotated or given another role.
func (e *EraseCommand) exportList(ctx context.Context, c *terminal.Console, server *client.Client) error {
	caller, err := server.Whoami(ctx)
	if err != nil {
		return err
	}
	// For a caller who may not see all erasures, the list would be incomplete without notice.
	if _, err := server.Do(ctx, client.Get("v1", "erasures"), nil); err != nil {
		return err
	}
	lines, end, sum := map[string]int{}, serve.ListEnd{}, sha256.New()
	err = terminal.WriteFile(c, e.ExportList, func(buffer *bytes.Buffer, flush func() error) error {
		query := url.Values{"limit": {"500"}, "name": listedNames}
		for page, err := range client.Pages[listedEvent](ctx, server, []string{"v1", "events"}, query) {
			if err != nil {
				return err
			}
			for _, event := range page.Items {
				line, listed := event.line(caller.Tenant)
				if !listed {
					continue
				}
				if err := json.NewEncoder(io.MultiWriter(buffer, sum)).Encode(line); err != nil {
					return err
				}
				lines[line.OfKey()]++
				end.Lines++
			}
			if err := flush(); err != nil {
				return err
			}
		}
		end.SHA256 = hex.EncodeToString(sum.Sum(nil))
		if err := json.NewEncoder(buffer).Encode(end); err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		return err
	}
	c.Note("%s of tenant %s in %s, with %d revoked and %d rotated keys and %d changes of roles",
		terminal.Several(lines[""], "erasure"),
		caller.Tenant, e.ExportList, lines[serve.Revocation], lines[serve.Rotation], lines[serve.RoleChange])
	return nil
}

// listedNames are the names of the events in a list.
var listedNames = []string{
	"knowledge.erased", "session.erased", "text.erased", "erasure.ordered",
	serve.Revocation, serve.Rotation, serve.RoleChange,
}

// listedEvent is an event of an erasure or of a key.
type listedEvent struct {
	Name       string    `json:"name"`
	EventID    string    `json:"event_id"`
	Stream     string    `json:"stream"`
	RecordedAt time.Time `json:"recorded_at"`
	Data       struct {
		serve.Erasure

		Of string `json:"of"` // of an order: only tenants are listed, since other targets have events of their own
		By string `json:"by"` // of a rotation: the prefix of the other key

		Role domain.Role `json:"role"` // of a role change; of an order, the role of its author
	} `json:"data"`
}

func (l listedEvent) line(tenant string) (line serve.Erasure, listed bool) {
	line = l.Data.Erasure
	line.Tenant, line.Stream, line.EventID, line.RecordedAt = tenant, l.Stream, l.EventID, l.RecordedAt
	line.Revoked, line.ReplacedBy = l.Name == serve.Revocation, l.Data.By
	if l.Name == serve.RoleChange {
		line.Role = l.Data.Role
	}
	if l.Data.Of == "" {
		return line, true
	}
	line.Stream = l.Data.Of
	return line, line.IsTenant()
}

// scanErasure scans a line of the list from a row of the log.
func scanErasure(rows *sql.Rows) (line serve.Erasure, listed bool, err error) {
	var tenant, data string
	var at database.Time
	var e listedEvent
	if err := rows.Scan(&tenant, &e.Name, &e.EventID, &e.Stream, &at, &data); err != nil {
		return line, false, err
	}
	if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
		return line, false, fmt.Errorf("read the event %s: %w", e.EventID, err)
	}
	e.RecordedAt = at.Time
	line, listed = e.line(tenant)
	return line, listed, nil
}

// replay applies a list to the database, which may have been restored from an older backup. A server must not use the
// same SQLite file.
func (e *EraseCommand) replay(ctx context.Context, c *terminal.Console) (err error) {
	cfg := serve.Config{Storage: e.Opened(c)}
	list, err := serve.ErasuresIn(e.Replay)
	if err != nil {
		return err
	}
	logger := cfg.Logger(c)
	if err := serve.CheckExists(ctx, cfg, logger); err != nil {
		return err
	}
	db, log, knowledge, err := serve.OpenLog(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx)), db.Close()) }()
	release, err := database.LockWriterTables(ctx, db)
	if err != nil {
		return err
	}
	defer release()
	done, err := serve.ReplayList(ctx, log, projections.NewEraser(knowledge, log, logger), list)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(done)
	}
	if len(list) == 0 {
		c.Say("nothing to replay: the list is empty, as of a tenant in which nothing was erased")
		return nil
	}
	printReplayed(c, done)
	return nil
}

func printReplayed(c *terminal.Console, done serve.Replayed) {
	rows := terminal.NewTable("", "NOW", "BEFORE")
	rows.Row("erased", done.Erased, done.Known)
	for _, r := range []struct {
		what        string
		now, before int
	}{
		{"revoked keys", done.Revoked, done.RevokedBefore},
		{"rotated keys", done.Rotated, done.RotatedBefore},
		{"demoted keys", done.Demoted, done.DemotedBefore},
	} {
		if r.now+r.before > 0 {
			rows.Row(r.what, r.now, r.before)
		}
	}
	c.Table(rows)
	if done.Rotated > 0 {
		c.Note("the keys that replaced the rotated ones are not in this database: issue new ones with annals key create")
	}
	if done.Unknown > 0 {
		c.Note("not known here: %s", terminal.Enumerated(done.UnknownStreams, done.Unknown))
	}
	if done.Held > 0 {
		c.Note("under legal hold since, not erased: %d", done.Held)
	}
}

// certificate prints the record of an erasure, with a signed proof that the log contains it. The public key verifies
// it.
func (e *EraseCommand) certificate(ctx context.Context, c *terminal.Console, server *client.Client) error {
	question := client.Get("v1", "events")
	question.Query = url.Values{
		"stream": {domain.KnowledgeStream(e.Certificate)}, "name": {domain.Erased{}.Name()}, "limit": {"1"},
	}
	var found api.Page[api.Event]
	if _, err := server.Do(ctx, question, &found); err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return &terminal.Failure{
			Code: terminal.ExitNotFound, Detail: "no erasure of it is recorded",
			Fix: "annals history " + e.Certificate + " shows what is",
		}
	}
	var certificate api.Inclusion
	a, err := server.Do(ctx, client.Get("v1", "log", "proof", found.Items[0].EventID), &certificate)
	if err != nil {
		return err
	}
	c.Note("verify it with: annals verify FILE --key KEY, which annals proof key prints")
	return c.Document(a.Body)
}
