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
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
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
		in.CloseWithError(s.other.Items(func(item markdown.Item) error {
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
	ctx context.Context, server *client.Client, items []markdown.Item, s *summary,
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
func (i *ImportCommand) plan(c *terminal.Console, from *markdown.Input) error {
	table, all := terminal.NewTable("FROM", "SCOPE", "DATE", "ABOUT"), []markdown.Item{}
	err := from.Items(func(item markdown.Item) error {
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
	markdown.PrintUnread(c, from.Unread)
	c.Say("\n%s. Nothing is written yet: leave --dry-run out.", terminal.Several(len(all), "item"))
	return nil
}
