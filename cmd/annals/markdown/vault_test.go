package markdown

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
)

func written(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// exported writes items as annals export markdown does.
func exported(t *testing.T, dir string, items []*api.Knowledge) map[string]string {
	t.Helper()
	has, _, err := WrittenIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	vault, files := &Vault{Taken: func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}}, map[string]string{}
	for _, k := range items {
		vault.Place(k, has[k.ID].Name)
	}
	for _, k := range items {
		linked := *k
		linked.Content = vault.Linked(k)
		files[vault.PlaceOf(k.ID)] = string(Note(&linked, vault.PlaceOf(k.ID)))
	}
	written(t, dir, files)
	return files
}

// resolved counts the links in some files, and those that lead to one of them as Obsidian follows them.
func resolved(files map[string]string, missing func(name, target string)) (links, found int) {
	for name, text := range files {
		_, _, body := frontMatter(text)
		for _, l := range parse(body).links() {
			links++
			before := found
			for other := range files {
				stem := strings.TrimSuffix(other, ".md")
				if l.wiki && (strings.EqualFold(path.Base(stem), l.target) || strings.EqualFold(stem, l.target)) ||
					!l.wiki && path.Join(path.Dir(name), l.target) == other {
					found = before + 1
				}
			}
			if found == before {
				missing(name, l.target)
			}
		}
	}
	return links, found
}

func TestLinksBetweenExportedNotesLeadToThem(t *testing.T) {
	t.Parallel()
	source, out := t.TempDir(), t.TempDir()
	written(t, source, map[string]string{
		"Coffee.md":               "---\naliases: [Espresso, 咖啡]\ntags: [brew]\n---\nSee [[water]], [[Beans#Origins]], ![[decisions/0001-queue|the queue]] and [[Espresso]].",
		"Water.md":                "| a | b |\n|---|---|\n| [[0001-queue]] | [[Coffee\\|c]] |\n\n`[[Nothing]]` [[#Here]] [q](decisions/0001-queue.md#why)",
		"decisions/Beans.md":      "# What: beans/roasts?\n\n[up](../Coffee.md) [next](<0001-queue.md>) [[Water]] [cn](../%E6%B0%B4%20a.md)",
		"decisions/0001-queue.md": "---\ntitle: \"1. Use a queue: NATS\"\ndescription: Why\n---\n[[Beans]] [[notes/Beans]] [[水 a]]",
		"notes/Beans.md":          "# Beans\n\n[[CLAUDE#Deploy]] [[CLAUDE]]",
		"水 a.md":                  "[root](/decisions/Beans.md)\n\n[ref]: notes/Beans.md",
		"CLAUDE.md":               "# Shop\n\nAll [[Coffee]].\n\n## Deploy\nwith [[Water]]",
		"AGENTS.md":               "## First\none\n\n## 部署\ntwo\n\n## Last one\n[[AGENTS]] [[AGENTS#部署]] [x](AGENTS.md#last-one) [[CLAUDE#deploy]] [[CLAUDE]]",
		"a/Day.md":                "A",
		"b/c/Day.md":              "B",
		"b/Links.md":              "[[c/Day]] [[Day]] [[Plan]]",
		"a/Plan.md":               "# Third quarter\nText",
		"a/Title.md":              "# Plan\nText",
	})
	in, err := Open(source, Forms{})
	var items []*api.Knowledge
	if err == nil {
		err = in.Items(func(item Item) error {
			k := &api.Knowledge{Revision: 1}
			text, err := json.Marshal(item)
			items = append(items, k)
			return errors.Join(err, json.Unmarshal(text, k))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for id, content := range map[string]string{"Ports": "[t](Tasks_3.html#Where)", "Tasks": "[p](Ports_3.html)"} { // of a wiki
		items = append(items, &api.Knowledge{ID: id, Revision: 1, Content: content, Meta: []byte(`{"file":"wiki/` + id + `_3.html"}`), Task: id})
	}
	slices.Reverse(items) // as a server lists them: the newest first
	files := exported(t, out, items)
	links, found := resolved(files, func(name, target string) { t.Errorf("%s leads to no %s:\n%s", name, target, files[name]) })
	if t.Logf("%d of %d links lead to a note", found, links); links != 30 {
		t.Errorf("%d links", links)
	}
	for name, want := range map[string]string{
		"public/Coffee.md":              "aliases: [Espresso, 咖啡]",
		"public/1. Use a queue NATS.md": "description: Why",
		"public/What beans roasts.md":   "title: 'What: beans/roasts?'",
		"public/Water.md":               `[[1. Use a queue NATS\|0001-queue]]`,
		"public/Beans.md":               "[[Shop Deploy|CLAUDE#Deploy]] [[Shop|CLAUDE]]",
		"public/AGENTS Last one.md":     "[[AGENTS First|AGENTS]] [[AGENTS 部署|AGENTS#部署]] [x](AGENTS%20Last%20one.md) [[Shop Deploy|CLAUDE#deploy]] [[Shop|CLAUDE]]",
		"public/Links.md":               "[[Day|c/Day]] [[Day]] [[Third quarter|Plan]]",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %s:\n%s", name, want, files[name])
		}
	}
	// Once more, from what was written, nothing changes. A note that moved takes its links with it.
	if again := exported(t, out, items); len(again) != len(files) {
		t.Errorf("%d files became %d", len(files), len(again))
	}
	if err := errors.Join(os.Mkdir(filepath.Join(out, "moved"), 0o700),
		os.Rename(filepath.Join(out, "public/1. Use a queue NATS.md"), filepath.Join(out, "moved/Queue (old).md"))); err != nil {
		t.Fatal(err)
	}
	files = exported(t, out, items)
	if _, found := resolved(files, func(name, target string) { t.Errorf("%s leads to no %s", name, target) }); found != links {
		t.Errorf("%d of %d links lead to a note that moved", found, links)
	}
	has, _, err := WrittenIn(out)
	if err != nil || len(has) != len(items) || has[items[0].ID].Edited {
		t.Errorf("%d of %d notes, %v", len(has), len(items), err)
	}
}

func TestFirstLinesThatAnotherProgramHasRewrittenAreRenewed(t *testing.T) {
	t.Parallel()
	k := &api.Knowledge{ID: "one", Type: "tool", Task: "T", Content: "Text", Revision: 3}
	for name, text := range map[string]string{
		"as written": string(Note(k, "a/T.md")),
		"CRLF":       strings.ReplaceAll(string(Note(k, "a/T.md")), "\n", "\r\n"),
		"lines":      "---\ntitle: T\nannals:\n  id: one\n  revision: 3\n  hash: " + HashOf("T", "Text") + "\n  file: a/T.md\nmore: 1\n---\nText\n",
	} {
		in := &Input{}
		all, err := in.Note("a/T.md", text)
		if err != nil || len(all) != 1 || all[0].Known == nil || !(&Item{Known: all[0].Known, Path: "/x/a/T.md"}).InPlace() {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		all[0].file = "a/T.md"
		again, err := in.Note("a/T.md", string(Renewed([]byte(text), all[0], "two", 4)))
		if err != nil || len(again) != 1 || *again[0].Known != (Known{"two", 4, HashOf("T", "Text"), "a/T.md"}) || again[0].Content != "Text" {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
	}
}
