package markdown_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/http/api"
)

func TestANoteSaysWhatItsItemSays(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(# |---|- |: |title: |[a-z "'{}#\n]){0,30}`))
		k := &api.Knowledge{
			ID: "item-1", Type: "definition", Task: strings.TrimSpace(text.Draw(rt, "task")),
			Content: "x" + text.Draw(rt, "content"), Revision: rapid.Int64Range(1, 1<<40).Draw(rt, "revision"), Owner: "user:mia",
		}
		if strings.ContainsRune(k.Content+k.Task, '\r') {
			rt.Skip("line ends are written in one form")
		}
		if err := os.WriteFile(filepath.Join(dir, "note.md"), markdown.Note(k, "note.md"), 0o600); err != nil {
			rt.Fatal(err)
		}
		all, unread := read(t, dir)
		if len(all) != 1 {
			rt.Fatalf("%d items, %s", len(all), unread)
		}
		got := all[0]
		if got.Task != k.Task || got.Content != strings.TrimSpace(k.Content) || got.Known == nil || got.Known.ID != k.ID ||
			got.Known.Revision != k.Revision || got.Known.Hash != markdown.HashOf(got.Task, got.Content) {
			rt.Errorf("%q became %+v, %+v", markdown.Note(k, "note.md"), got, got.Known)
		}
	})
}
