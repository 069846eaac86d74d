package markdown_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		file, err := w.Create(name)
		if err == nil {
			_, err = file.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t *testing.T, path string) (all []markdown.Item, unread string) {
	t.Helper()
	in, err := markdown.Open(path, markdown.Forms{})
	if err != nil || in == nil {
		t.Fatal(in, err)
	}
	if err := in.Items(func(item markdown.Item) error {
		all = append(all, item)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, left := range in.Unread {
		unread += left.File + " " + left.Why + "\n"
	}
	return all, unread
}

func TestArchivesInArchivesAreRead(t *testing.T) {
	page := "# API Integration\n\nStatus: Done\nAuthor: Alice Chen\nDate: March 20, 2025\n\nThe client retries."
	inner := zipped(t, map[string]string{
		"Work/API 6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c.md": page,
		"Work/big.md":     strings.Repeat("a", 9<<20),
		"Work/latin.md":   "caf\xe9",
		"Work/other.json": `{"a": 1}`,
	})
	path := filepath.Join(t.TempDir(), "Export.zip")
	whole := zipped(t, map[string]string{"ExportBlock-Part-1.zip": inner, "broken.zip": "PK"})
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	all, unread := read(t, path)
	if len(all) != 1 {
		t.Fatalf("%d items", len(all))
	}
	got := all[0]
	if got.Task != "API Integration" || !strings.HasSuffix(got.Content, "The client retries.") || got.Source.SubmittedBy != "Alice Chen" ||
		got.OccurredAt.Format("2006-01-02") != "2025-03-20" || got.Tags["status"][0] != "Done" || got.Tags["folder"][0] != "Work" {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"big.md is larger", "latin.md is not in UTF-8", "other.json is not read", "broken.zip is no archive"} {
		if !strings.Contains(unread, want) {
			t.Errorf("%s is missing in:\n%s", want, unread)
		}
	}
}

func TestNoTextOfANoteIsLost(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"AGENTS.md": "# A\n\n## Setup\nx\n\n# B\n\n## Setup\ny\n\n## Setup (2)\nz\n<!-- annals:begin -->\nours\n<!-- annals:end -->\n",
		"rule.md":   "---\n\nfirst\n\n---\nthen",
		"odd.md":    "---\nNot yaml: [\nA paragraph.\n---\nbody",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, unread := read(t, dir)
	ids, texts := map[string]bool{}, ""
	for _, item := range all {
		ids[item.ID] = true
		texts += item.Content + "\n"
	}
	if len(all) != 5 || len(ids) != 5 || unread != "" {
		t.Errorf("%d items with %d ids, %s", len(all), len(ids), unread)
	}
	for _, word := range []string{"x", "y", "z", "first", "then", "A paragraph.", "body"} {
		if !strings.Contains(texts, word+"\n") {
			t.Errorf("%q is lost in %q", word, texts)
		}
	}
	if strings.Contains(texts, "ours") {
		t.Errorf("what annals told agents was read: %q", texts)
	}
}

func TestLinksThatLeadOutAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.md")
	for path, text := range map[string]string{secret: "a secret", filepath.Join(dir, "note.md"): "a note"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(dir, "link.md")); err != nil {
		t.Skip(err)
	}
	if all, unread := read(t, dir); len(all) != 1 || !strings.Contains(unread, "link.md") {
		t.Errorf("%d items, left out: %s", len(all), unread)
	}
}

func TestTemplatesAreNoNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.md", "Templates/t.md", "x/99 - Templates/t.md", "email-templates/b.md"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, unread := read(t, dir)
	if len(all) != 2 || strings.Count(unread, "is a folder of templates") != 2 {
		t.Errorf("%d items, left out: %s", len(all), unread)
	}
	if all, _ := read(t, filepath.Join(dir, "Templates")); len(all) != 1 {
		t.Errorf("%d items of a folder that is named", len(all))
	}
}
