package record

import (
	"bytes"
	"context"
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
	notes, others, err := markdown.WrittenIn(e.Dir)
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
	vault := &markdown.Vault{Taken: func(name string) bool {
		_, err := root.Stat(name)
		return err == nil
	}}
	for _, write := range []bool{false, true} { // links lead to places, and so all are known first
		for page, err := range client.Pages[api.Knowledge](ctx, server, []string{"v1", "knowledge"}, query) {
			if err != nil {
				return err
			}
			for i := range page.Items {
				k := &page.Items[i]
				note, is := notes[k.ID]
				if !is { // else it may be a note that was written here, and imported
					note = others[markdown.FromOf(k).File]
				}
				if !write || vault.PlaceOf(k.ID) == "" {
					vault.Place(k, note.Name)
				}
				if !write {
					continue
				}
				delete(notes, k.ID)
				name := vault.PlaceOf(k.ID)
				hash := markdown.HashOf(k.Task, k.Content)
				k.Content = vault.Linked(k)
				if note.Edited && note.Hash != hash && note.Hash != markdown.HashOf(k.Task, k.Content) {
					s.Edited = append(s.Edited, name)
					continue
				}
				text := markdown.Note(k, name)
				before, err := root.ReadFile(name)
				if before = bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")); err == nil && bytes.Equal(before, text) {
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
