package markdown_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// placed is the id of a/note.md in a folder with these other files.
func placed(t *testing.T, forms markdown.Forms, folder, from string, files map[string]string) string {
	t.Helper()
	write := func(name, text string) {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("a/note.md", "text")
	for name, text := range files {
		write(name, text)
	}
	in, err := markdown.Open(filepath.Join(folder, from), forms)
	if err != nil || in == nil {
		t.Fatal(in, err)
	}
	id := ""
	in.Caller = "user:mia"
	if err := in.Items(func(item markdown.Item) error {
		id = item.ID
		return nil
	}); err != nil || id == "" {
		t.Fatal(id, err)
	}
	return id
}

func TestANoteKeepsItsIDWhereverItsRootLies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	remote := func(url string) map[string]string {
		return map[string]string{".git/config": "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = x:y/z\n[remote \"origin\"]\n\turl = " + url + "\n"}
	}
	local := filepath.Join(dir, "m/first")
	type one struct {
		folder, from, named string
		files               map[string]string
	}
	seen := map[string]string{}
	for name, same := range map[string][]one{
		"git": {
			{"a/docs", "", "", remote("git@GitHub.com:Acme/docs.git")},
			{"b/other", "a", "", remote("https://token@github.com/acme/docs/")},
			{"c/x", "a/note.md", "", remote("ssh://git@github.com:22/acme/docs.git")},
			{"c/secret", "", "", remote("https://user:pa%ss#w@github.com/acme/docs.git")},
			{"d/tree", "", "", map[string]string{".git": "gitdir: ../../a/docs/.git/worktrees/t\n", "../../a/docs/.git/worktrees/t/commondir": "../..\n"}},
			{"e/docs", "", "", map[string]string{".git/config": "[remote \"origin\"]\n\turl = " + filepath.Join(dir, "a/docs/.git") + "\n"}},
		},
		"another remote": {{"f/docs", "", "", remote("git@github.com:acme/handbook.git")}},
		"no remote":      {{"m/first", "", "", map[string]string{".git/config": "[core]\n"}}, {"m/second", "", "", remote(local)}},
		"vault":          {{"g/brain", "", "", map[string]string{".obsidian/app.json": "{}"}}, {"h/brain", "a", "", map[string]string{".obsidian/app.json": "{}"}}},
		"another vault":  {{"g/work", "", "", map[string]string{".obsidian/app.json": "{}"}}},
		"named":          {{"i/x", "", "brain", nil}, {"j/y", "", "brain", map[string]string{".obsidian/app.json": "{}"}}},
		"a folder":       {{"k/x", "", "", nil}, {"k/x", "a", "", nil}},
		"another folder": {{"l/x", "", "", nil}},
	} {
		for i, one := range same {
			id := placed(t, markdown.Forms{Root: one.named}, filepath.Join(dir, one.folder), one.from, one.files)
			if other := seen[id]; i == 0 && other != "" || i > 0 && other != name {
				t.Errorf("%s, %s: %s, which is of %q", name, one.folder, id, other)
			}
			seen[id] = name
		}
	}
}

// itemsIn are the items of a folder of notes, by their files, and what was left out.
func itemsIn(t *testing.T, folder string, forms markdown.Forms) (ids map[string]string, unread []markdown.Unread) {
	t.Helper()
	in, err := markdown.Open(folder, forms)
	if err != nil || in == nil {
		t.Fatal(in, err)
	}
	in.Caller, ids = "user:mia", map[string]string{}
	if err := in.Items(func(item markdown.Item) error {
		ids[item.Origin] = item.ID
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids, in.Unread
}

func written(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRootsInAFolderKeepTheirNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{
		"src/repo/a/x.md": "x", "src/repo/.git/config": "[remote \"origin\"]\n\turl = git@github.com:acme/repo\n",
		"src/brain/y.md": "y", "src/brain/.obsidian/app.json": "{}", "src/z.md": "z",
	})
	all, _ := itemsIn(t, filepath.Join(dir, "src"), markdown.Forms{})
	repo, _ := itemsIn(t, filepath.Join(dir, "src/repo"), markdown.Forms{})
	brain, _ := itemsIn(t, filepath.Join(dir, "src/brain"), markdown.Forms{})
	if len(all) != 3 || all["file:src/repo/a/x.md"] != repo["file:repo/a/x.md"] ||
		all["file:src/brain/y.md"] != brain["file:brain/y.md"] {
		t.Error(all, repo, brain)
	}
	named, _ := itemsIn(t, filepath.Join(dir, "src"), markdown.Forms{Root: "mine"})
	if named["file:src/repo/a/x.md"] == all["file:src/repo/a/x.md"] {
		t.Error("--root names what all notes belong to")
	}
}

func TestANoteIsReadOnceWhateverItsNameIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{
		"a/AGENTS.md": "# A\n\none", "a/.hidden/h.md": "h", "a/two\nlines.md": "2",
		"nfc/Caf\u00e9.md": "c", "nfd/Cafe\u0301.md": "c", "b/.cursor/rule.md": "r",
	})
	for link, to := range map[string]string{
		"a/CLAUDE.md": "AGENTS.md", "a/shown.md": ".hidden/h.md", "b/rule.md": ".cursor/rule.md",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	ids, unread := itemsIn(t, filepath.Join(dir, "a"), markdown.Forms{})
	if len(ids) != 3 || ids["file:a/AGENTS.md"] == "" || ids["file:a/shown.md"] == "" || ids["file:a/two lines.md"] == "" {
		t.Error(ids)
	}
	if len(unread) != 1 || unread[0] != (markdown.Unread{File: "CLAUDE.md", Why: "is a link to AGENTS.md"}) {
		t.Error(unread)
	}
	rules, linked := itemsIn(t, filepath.Join(dir, "b"), markdown.Forms{})
	if len(rules) != 1 || rules["file:b/.cursor/rule.md"] == "" || len(linked) != 1 {
		t.Error(rules, linked)
	}
	composed, _ := itemsIn(t, filepath.Join(dir, "nfc"), markdown.Forms{Root: "r"})
	apart, _ := itemsIn(t, filepath.Join(dir, "nfd"), markdown.Forms{Root: "r"})
	if composed["file:nfc/Caf\u00e9.md"] != apart["file:nfd/Cafe\u0301.md"] {
		t.Error(composed, apart)
	}
}
