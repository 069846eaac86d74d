package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/agents"
	"github.com/annals-kb/annals/cmd/annals/foreign"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// open opens the records of a source, and returns the size in bytes; 0 if it is unknown.
func (s source) open(ctx context.Context, c *terminal.Console) (io.ReadCloser, int64, error) {
	if len(s.text) > 0 {
		return io.NopCloser(bytes.NewReader(s.text)), int64(len(s.text)), nil
	}
	if s.other == nil {
		return openInput(ctx, c, s.path)
	}
	out, in := io.Pipe()
	go func() {
		encoder := json.NewEncoder(in)
		in.CloseWithError(s.other.Items(func(item foreign.Item) error {
			if item.Known != nil {
				s.known(item)
				return nil
			}
			return encoder.Encode(item)
		}))
	}()
	return out, 0, nil
}

// toRevise returns those of some items, as lines, that have changed since they were imported last. Items that somebody
// has revised here since stay as they are: they are conflicts if their files have changed, too.
func (i *ImportCommand) toRevise(
	ctx context.Context, server *client.Client, items []foreign.Item, s *summary,
) ([]byte, error) {
	var lines bytes.Buffer
	for _, item := range items {
		path := []string{"v1", "knowledge", item.ID, "history"}
		history, err := terminal.ReadList[api.Event](ctx, server, path, url.Values{})
		if err != nil {
			return nil, err
		}
		imported, here, revision := "", false, int64(0)
		for _, event := range history {
			for _, change := range event.Changes {
				if change.Field != "content" {
					continue
				}
				if here = !strings.HasPrefix(event.CausationID, "file:"); !here {
					imported = fmt.Sprint(change.After)
				}
			}
			revision = max(revision, event.Revision)
		}
		switch same := imported == item.Content; {
		case !here:
			err = json.NewEncoder(&lines).Encode(item)
		case same:
			s.Lines, s.Unchanged = s.Lines+1, s.Unchanged+1
		default:
			s.Lines++
			s.Conflicts = append(s.Conflicts, conflict{item.ID, item.Origin, 0, revision})
		}
		if err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}

// scopes is the scope of each folder that --map names, or of the nearest folder above it.
func (i *ImportCommand) scopes() (func(folder string) string, error) {
	of := map[string]string{}
	for _, pair := range i.Map {
		folder, scope, is := strings.Cut(pair, "=")
		if _, err := domain.ParseScope(scope); !is || err != nil {
			return nil, terminal.Wrong("as in --map decisions=team:pay, or --map .=org:acme for everything",
				"--map %s names no folder and scope", terminal.Printable(pair))
		}
		of[path.Clean(folder)] = scope
	}
	return func(folder string) string {
		for ; ; folder = path.Dir(folder) {
			if scope := of[folder]; scope != "" || folder == "." || folder == "/" {
				return scope
			}
		}
	}, nil
}

// plan shows what would be imported.
func (i *ImportCommand) plan(c *terminal.Console, from *foreign.Input) error {
	table, all := terminal.NewTable("FROM", "SCOPE", "DATE", "ABOUT"), []foreign.Item{}
	err := from.Items(func(item foreign.Item) error {
		all = append(all, item)
		date := ""
		if item.OccurredAt != nil {
			date = item.OccurredAt.Format("2006-01-02")
		}
		from, scopes := strings.TrimPrefix(item.Origin, "file:"), strings.Join(item.Scopes, ", ")
		table.Row(from, scopes, date, cmp.Or(item.Task, item.Content))
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": all, "unread": from.Unread})
	}
	if len(all) > 0 {
		c.Table(table)
	}
	printUnread(c, from.Unread)
	c.Say("\n%s. Nothing is written yet: leave --dry-run out.", terminal.Several(len(all), "item"))
	return nil
}

// sessions stores what was said to coding agents, or only shows it.
func (i *ImportCommand) sessions(ctx context.Context, c *terminal.Console, all []agents.Session) error {
	server, err := i.Connect()
	if err != nil {
		return err
	}
	s := struct {
		Sessions []*agents.Session `json:"sessions"`
		Messages int               `json:"messages"`
		Unread   []foreign.Unread  `json:"unread,omitempty"`
	}{Sessions: []*agents.Session{}}
	table := terminal.NewTable("SESSION", "DATE", "MESSAGES", "BEGINS")
	progress := terminal.Watch(c, "importing sessions")
	defer progress.End()
	unread := map[string]error{}
	for n := range all {
		if err := all[n].Read(); err != nil {
			unread[all[n].Path] = err
		}
	}
	byDate := func(x, y agents.Session) int { return cmp.Compare(x.At, y.At) } // later ones correct earlier ones
	slices.SortStableFunc(all, byDate)
	for n := range all {
		session := &all[n]
		err := unread[session.Path]
		if err == nil && !i.DryRun {
			err = session.Store(ctx, server)
		}
		if failure := terminal.AsFailure(err); err != nil && (ctx.Err() != nil || failure.Code == terminal.ExitUnavailable) {
			failure.Fix = terminal.Joined(", then ", failure.Fix, "run the same command again: nothing is stored twice")
			return failure
		} else if err != nil {
			s.Unread = append(s.Unread, foreign.Unread{File: session.Path, Why: err.Error()})
			continue
		}
		s.Sessions, s.Messages = append(s.Sessions, session), s.Messages+session.Said
		table.Row(session.ID, session.At[:min(len(session.At), len(time.DateOnly))], strconv.Itoa(session.Said),
			strings.Join(strings.Fields(session.About), " "))
		progress.Set(int64(n+1), int64(len(all)))
	}
	progress.End()
	if c.JSON {
		return c.Document(s)
	}
	what := terminal.Several(len(s.Sessions), "session") + " with " + terminal.Several(s.Messages, "message")
	const shared = "Lessons about work reach those whom annals session learned-for says, by default everyone."
	if printUnread(c, s.Unread); i.DryRun {
		c.Table(table)
		c.Say("\n%s. Nothing is written yet: leave --dry-run out.\n%s", what, shared)
		return nil
	}
	c.Say("%s stored; annals learns from them in the background. %s", what, shared)
	return nil
}

// printUnread lists files that were left out, the first ones by name.
func printUnread(c *terminal.Console, files []foreign.Unread) {
	const most = 20
	for _, left := range files[:min(len(files), most)] {
		c.Note("left out: %s %s", left.File, left.Why)
	}
	if len(files) > most {
		c.Note("left out: %d more; --json lists them", len(files)-most)
	}
}
