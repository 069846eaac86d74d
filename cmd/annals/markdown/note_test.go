package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// noted reads a note.
func noted(t *testing.T, text string) []markdown.Item {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, unread := read(t, dir)
	if unread != "" {
		t.Errorf("left out: %s", unread)
	}
	return all
}

func TestCodeHasNoLinksTagsOrHeadings(t *testing.T) {
	t.Parallel()
	all := noted(t, `# Real

Quote `+"`[[ ]]` or ``[[`` and `[[Span]]` and `#span`, see [[Link|words]], \\[[not]] and [[Over"+`
two lines]]. | [[Cell\|in a table]] | [[#Here]] [[ ]] #tag #nested/tag, #12 x#y [[A #b]]

[a](../other%20note.md#part "title") [b](<sp ace.md>) [c](https://x.test/far.md) [m](mailto:me@x.md) [d]: none.md

~~~sh
# comment
[[ -f x ]] && echo #shell [e](code.md)
~~~

    [[Indented]] #indented

- item
  `+"```"+`
  [[InList]] #in
  `+"```"+`

<div>[[Html]] #html</div>

[ref]: ref.md
#last
`)
	if len(all) != 1 || all[0].Task != "Real" {
		t.Fatalf("%+v", all)
	}
	if diff := cmp.Diff(all[0].Tags, map[string][]string{
		"labels": {"tag", "nested/tag", "last"},
		"links":  {"../other note.md", "A", "Cell", "Link", "ref.md", "sp ace.md"},
	}); diff != "" {
		t.Error(diff)
	}
	if all := noted(t, "    # code\n\ntext"); all[0].Task != "note" {
		t.Errorf("the title is %q", all[0].Task)
	}
	if all := noted(t, "Title\n=====\n\n## Status\n\nAccepted\n"); all[0].Task != "Title" || all[0].Tags["status"][0] != "accepted" {
		t.Errorf("%+v", all[0])
	}
}

func TestWhatNoTagCanBeIsLeftOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 257)
	tags := noted(t, "---\ntags: [\"\\u200b\", "+long+", ok]\naliases: ['']\n---\n[["+long+"]] [["+"\u3164"+"]]")[0].Tags
	if diff := cmp.Diff(tags, map[string][]string{"labels": {"ok"}}); diff != "" {
		t.Error(diff)
	}
}

func TestFrontMatterKeepsItsSpelling(t *testing.T) {
	t.Parallel()
	got := noted(t, "---\ntitle: 1,000 things\ndescription: About them\ntags: [[x]]\nkeywords: [1.10, 0x1F, yes, 2024-01-02, '[[y]]']\n"+
		"aliases:\n- One, two\n- 007\n---\nText")[0]
	if got.Task != "1,000 things" || got.Abstract != "About them" {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(got.Tags, map[string][]string{
		"labels": {"x", "1.10", "0x1F", "yes", "2024-01-02", "y"}, "aliases": {"One, two", "007"},
	}); diff != "" {
		t.Error(diff)
	}
	if got := noted(t, "---\ndescription: Long\n---\nText")[0]; got.Task != "note" {
		t.Errorf("the title is %q", got.Task)
	}
}

func TestALongTextIsSplitAndNothingIsLost(t *testing.T) {
	t.Parallel()
	words := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"headings": "# Big\n\nFirst\n\n## One\n\n" + words(4000, "w%d ") + "\n\n### In\n\n" + words(9000, "v%d ") + "\n\n## Two\n\n" + words(100, "u%d "),
		"list":     words(4000, "* item w%d of a list\n"), "paragraphs": words(4000, "Paragraph w%d.\n\n"),
		"lines": words(9000, "line w%d\n"), "words": words(20000, "w%d "), "one word": strings.Repeat("字w", 40000),
		"code": "```\n" + words(9000, "# code w%d\n\n") + "```\n",
	} {
		all, ids, together := noted(t, text), map[string]bool{}, ""
		for _, item := range all {
			if len(item.Content) > 64<<10 {
				t.Errorf("%s: %d bytes", name, len(item.Content))
			}
			ids[item.ID] = true
			together += " " + item.Task + " " + item.Content
		}
		if len(all) < 2 || len(ids) != len(all) {
			t.Errorf("%s: %d items with %d ids", name, len(all), len(ids))
		}
		kept := map[string]bool{}
		for word := range strings.FieldsSeq(strings.ReplaceAll(together, ":", " ")) {
			kept[word] = true
		}
		for word := range strings.FieldsSeq(strings.ReplaceAll(text, "#", "")) {
			if name != "one word" && !kept[word] {
				t.Fatalf("%s: %q is lost", name, word)
			}
		}
		if count := strings.Count(together, "字w"); name == "one word" && count < 40000-len(all) {
			t.Errorf("%d characters of 40000 are left", count)
		}
		if name == "words" && (all[0].Task != "note" || all[1].Task != "note (2)") {
			t.Errorf("%s: %q, %q", name, all[0].Task, all[1].Task)
		}
		if name == "list" && !strings.HasPrefix(all[1].Content, "* item") || name == "headings" && all[2].Task != "Big: One: In" {
			t.Errorf("%s: %.20q, %q", name, all[1].Content, all[2].Task)
		}
	}
}
