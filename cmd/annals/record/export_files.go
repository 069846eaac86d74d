package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type exportFilesCommand struct {
	terminal.Remote
	terminal.Filters

	Dir     string `arg:"" complete:"file"`
	Replace bool
}

func (e *exportFilesCommand) Run(ctx context.Context, c *terminal.Console) error {
	if err := e.writable(); err != nil {
		return err
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	files, items, err := e.collect(ctx, c, server)
	if err == nil {
		err = e.write(files)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"directory": e.Dir, "files": len(files), "items": items})
	}
	c.Say("%d pieces of knowledge in %d files below %s", items, len(files), e.Dir)
	return nil
}

// writable refuses a directory whose files would be lost.
func (e *exportFilesCommand) writable() error {
	entries, err := os.ReadDir(e.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return terminal.Wrong("name a directory that is empty or not there yet", "%s", err)
	case len(entries) > 0 && !e.Replace:
		return terminal.Wrong("name another, or replace its global, agents and users with --replace", "%s is not empty",
			e.Dir)
	}
	return nil
}

// collect reads all items with their ratings and assigns them to files.
func (e *exportFilesCommand) collect(
	ctx context.Context, c *terminal.Console, server *client.Client,
) (files map[string][]json.RawMessage, items int, err error) {
	files = map[string][]json.RawMessage{}
	progress := terminal.Watch(c, "exporting")
	defer progress.End()
	query := e.Parameters()
	query.Set("limit", strconv.Itoa(terminal.LargestPage))
	for page, err := range client.Pages[api.Knowledge](ctx, server, []string{"v1", "knowledge"}, query) {
		if err != nil {
			return nil, 0, err
		}
		for _, k := range page.Items {
			whole, err := server.Do(ctx, client.Get("v1", "knowledge", k.ID), nil)
			if whole != nil && (whole.Status == http.StatusGone || whole.Status == http.StatusNotFound) {
				continue // it was forgotten in between
			}
			if err != nil {
				return nil, 0, err
			}
			var where placement
			item, failed := exportedFields(whole.Body)
			if err := errors.Join(failed, json.Unmarshal(whole.Body, &where)); err != nil {
				return nil, 0, fmt.Errorf("read the server's answer: %w", err)
			}
			files[where.File()] = append(files[where.File()], item)
			items++
			progress.Set(int64(items), 0)
		}
	}
	return files, items, nil
}

// write makes the new directories beside the old ones and then replaces these.
func (e *exportFilesCommand) write(files map[string][]json.RawMessage) error {
	err := os.MkdirAll(e.Dir, 0o700)
	if err != nil {
		return terminal.Unwritable(e.Dir, err)
	}
	whole, err := os.MkdirTemp(e.Dir, ".annals-*")
	if err != nil {
		return terminal.Unwritable(e.Dir, err)
	}
	defer os.RemoveAll(whole) //nolint:errcheck // leftovers are harmless
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(whole, filepath.FromSlash(name)), files[name]); err != nil {
			return terminal.Unwritable(filepath.Join(e.Dir, filepath.FromSlash(name)), err)
		}
	}
	for _, root := range layoutRoots {
		place := filepath.Join(e.Dir, root)
		if err := os.RemoveAll(place); err != nil {
			return fmt.Errorf("replace %s: %w", root, err)
		}
		if err := os.Rename(filepath.Join(whole, root), place); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("place %s: %w", root, err)
		}
	}
	return nil
}

// writeFile writes a readable JSON array. The same items always give the same bytes.
func writeFile(name string, items []json.RawMessage) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(items); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o600)
}
