package record

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type exportMarkdownCommand struct {
	terminal.Remote
	terminal.Filters

	Dir string `arg:"" complete:"file"`
}

func (e *exportMarkdownCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := e.Connect()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.Dir, 0o700); err != nil {
		return terminal.Unwritable(e.Dir, err)
	}
	root, err := os.OpenRoot(e.Dir)
	if err != nil {
		return terminal.Unwritable(e.Dir, err)
	}
	defer root.Close() //nolint:errcheck // its files are closed
	notes, err := markdown.WrittenIn(root.FS())
	if err != nil {
		return err
	}
	var s struct {
		Directory string   `json:"directory"`
		Written   int      `json:"written"`
		Unchanged int      `json:"unchanged"`
		Edited    []string `json:"edited,omitempty"`
		Gone      []string `json:"gone,omitempty"`
	}
	s.Directory = e.Dir
	progress := terminal.Watch(c, "exporting")
	defer progress.End()
	query := e.Parameters()
	query.Set("limit", strconv.Itoa(terminal.LargestPage))
	for page, err := range client.Pages[api.Knowledge](ctx, server, []string{"v1", "knowledge"}, query) {
		if err != nil {
			return err
		}
		for i := range page.Items {
			k := &page.Items[i]
			note, known := notes[k.ID]
			name := note.Name
			delete(notes, k.ID)
			if note.Edited && note.Hash != markdown.HashOf(k.Task, k.Content) {
				s.Edited = append(s.Edited, name)
				continue
			}
			if !known {
				name = markdown.PlaceOf(k, func(name string) bool {
					_, err := root.Stat(name)
					return err == nil
				})
			}
			text := markdown.Note(k)
			if before, err := root.ReadFile(name); err == nil && bytes.Equal(before, text) {
				s.Unchanged++
				continue
			}
			if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				return terminal.Unwritable(name, err)
			}
			if err := terminal.WriteText(c, filepath.Join(e.Dir, name), text); err != nil {
				return err
			}
			s.Written++
			progress.Set(int64(s.Written), 0)
		}
	}
	progress.End()
	for _, note := range notes {
		if len(query) == 1 { // else the filter may leave it out
			s.Gone = append(s.Gone, note.Name)
		}
	}
	slices.Sort(s.Gone)
	if c.JSON {
		return c.Document(s)
	}
	for _, name := range s.Edited {
		c.Note("left as it is, since it was edited and not imported yet: %s", name)
	}
	for _, name := range s.Gone {
		c.Note("its item is no longer there, or not yours to see: %s", name)
	}
	c.Say("%s written below %s, %d unchanged", terminal.Several(s.Written, "note"), e.Dir, s.Unchanged)
	return nil
}

// revise revises the items whose notes were edited. A note whose item was revised since it was written is a conflict.
// A note that was imported says so in its first lines.
func (i *ImportCommand) revise(
	ctx context.Context, c *terminal.Console, server *client.Client, notes []markdown.Item, s *summary,
) error {
	renew := func(item markdown.Item, revision int64) error {
		text, err := os.ReadFile(item.Path)
		if item.Path == "" || err != nil {
			return nil // in an archive, or gone
		}
		return terminal.WriteText(c, item.Path, markdown.Renewed(text, item, revision))
	}
	for _, item := range notes {
		s.Lines++
		if item.Known.Hash == markdown.HashOf(item.Task, item.Content) {
			s.Unchanged++
			continue
		}
		patch := map[string]any{"content": item.Content, "reason": "edited in " + item.Origin}
		if item.Task != "" {
			patch["task"] = item.Task
		}
		if i.Reason != "" {
			patch["reason"] = i.Reason
		}
		var now api.Knowledge
		answer, err := server.Do(ctx, client.Request{
			Method: http.MethodPatch, Path: []string{"v1", "knowledge", item.ID}, Body: patch, Header: http.Header{
				"Content-Type": {"application/merge-patch+json"}, "If-Match": {fmt.Sprintf(`"%d"`, item.Known.Revision)},
			},
		}, &now)
		switch failure := terminal.AsFailure(err); {
		case err == nil:
			s.Revised++
			if err := renew(item, now.Revision); err != nil {
				return err
			}
		case answer != nil && answer.Status == http.StatusPreconditionFailed:
			if _, err := server.Do(ctx, client.Get("v1", "knowledge", item.ID), &now); err != nil {
				return err
			}
			if markdown.HashOf(now.Task, now.Content) == markdown.HashOf(item.Task, item.Content) {
				s.Unchanged++
				if err := renew(item, now.Revision); err != nil {
					return err
				}
				continue
			}
			s.Conflicts = append(s.Conflicts, conflict{item.ID, item.Origin, item.Known.Revision, now.Revision})
		case failure.Code == terminal.ExitUnavailable:
			return err
		default:
			s.Failed++
			s.Unread = append(s.Unread, markdown.Unread{File: item.Origin, Why: failure.Detail})
		}
	}
	return nil
}

// conflict is an item that was changed in its note and on the server.
type conflict struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Revision int64  `json:"revision,omitempty"` // that was edited, if the file says so
	Now      int64  `json:"now"`                // that the server has
}
