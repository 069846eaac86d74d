package foreign_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/cmd/annals/foreign"
	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// What a team keeps in Notion, Confluence and Slack, each in a zip as that program exports it.
func TestExportsOfWorkspacesAreRead(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("3", 32)
	for name, files := range map[string]map[string]string{
		"notion": {
			"Ops/Decisions " + page + ".csv":               "\xef\xbb\xbfName,Status\r\nUse Postgres 16,Done",
			"Ops/Decisions " + page + "_all.csv":           "\xef\xbb\xbfName,Status,Owner,Decided date\r\nUse Postgres 16,Done,\"Ana, Bo\",\"May 2, 2025 1:52 PM\"\r\nDrop MySQL,,Ana,",
			"Ops/Tasks " + page + ".csv":                   "Name\r\nPaint",
			"Ops/Tasks " + page + "/Paint " + page + ".md": "# Paint\n\nStatus: Open\n\nThe door.",
			"other.csv": "a,b",
		},
		"confluence": {
			"DOCS/index.html": "<html><body><div id='main-content'>Available Pages</div></body></html>",
			"DOCS/Deploy-guide_200.html": `<html><head><title>x</title></head><body><ol id="breadcrumbs"><li><span><a href="index.html">Team Docs</a></span></li>
				<li><span><a href="Home_100.html">Home</a></span></li></ol><span id="title-text">
				Team Docs : Deploy: guide </span><div class="page-metadata"> Created by <span class='author'> Ana Ruiz</span>, last modified by
				<span class='editor'> Bo Li</span> on Feb 03, 2025 </div><div id="main-content"><style>p{}</style><div class="toc-macro"><a href="#x">Steps</a></div>
				<h2>Steps</h2><p>See <a href="300.html">Q&amp;A</a>.</p><table><tr><th>Env<th>Host</tr><tr><td>live<td>a1</tr></table></div></body></html>`,
			"DOCS/400.html":                `<html><body><span id="title-text">Folder</span></body></html>`,
			"DOCS/attachments/200/501.png": "png",
		},
		"slack": {
			"users.json":    `[{"id":"U01","name":"ana","real_name":"Ana Ruiz"},{"id":"U02","name":"bo"}]`,
			"channels.json": `[{"id":"C01","name":"ops","pins":[{"id":"1746190000.000100"}]}]`,
			"ops/2025-05-02.json": `[{"type":"message","subtype":"channel_join","user":"U02","text":"<@U02> has joined","ts":"1746179000.000001"},
				{"type":"message","user":"U01","text":"Which database, <@U02>? See <https://wiki/x?a=1&amp;b=2|the page>","ts":"1746180000.000100","thread_ts":"1746180000.000100"},
				{"type":"message","user":"U01","text":"lunch?","ts":"1746181000.000100","thread_ts":"1746181000.000100"},
				{"type":"message","user":"U01","text":"yes","ts":"1746182000.000100","thread_ts":"1746181000.000100"},
				{"type":"message","user":"U01","text":"On call: 555","ts":"1746190000.000100"}]`,
			"ops/2025-05-03.json": `[{"type":"message","user":"U02","text":"Decided: Postgres &gt; MySQL","ts":"1746266400.000200","thread_ts":"1746180000.000100"}]`,
		},
	} {
		got, unread := read(t, files, foreign.Programs{})
		want := map[string][]string{
			"notion": {
				"Decisions: Drop MySQL | Name: Drop MySQL¶Owner: Ana | [Ops]",
				"Decisions: Use Postgres 16 | Name: Use Postgres 16¶Status: Done¶Owner: Ana, Bo¶Decided date: May 2, 2025 1:52 PM | [Ops] 2025-05-02",
				"Paint | Status: Open¶¶The door. | [Ops/Tasks " + page + "]",
			},
			"confluence": {
				"Deploy: guide | ## Steps¶¶See [Q&A](300.html).¶¶| Env | Host |¶|---|---|¶| live | a1 | | [Team Docs/Home] 2025-02-03 by Bo Li",
			},
			"slack": {
				"#ops: On call: 555 | Ana Ruiz: On call: 555 | [] 2025-05-02 by Ana Ruiz",
				"#ops: Which database, @bo? See [the page](https://wiki/x?a=1&b=2) | Ana Ruiz: Which database, @bo? See [the page](https://wiki/x?a=1&b=2)¶¶bo: Decided: Postgres > MySQL | [] 2025-05-03 by bo",
			},
		}[name]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\nleft out:\n%v", name, diff, unread)
		}
	}
}

// Notion exports pages as HTML, too, with the same properties as in Markdown.
func TestPagesOfNotionInHTMLAreRead(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("4", 32)
	got, unread := read(t, map[string]string{
		"index.html": "<html><body><h3>Contents</h3><ul><li>Deploy</ul></body></html>",
		"Ops/Deploy " + id + ".html": `<html><body><article id="x" class="page sans"><header><h1 class="page-title">Deploy</h1>
			<table class="properties"><tbody><tr class="property-row property-row-date"><th><span class="icon"></span>Date</th><td><time>@March 20, 2025</time></td></tr>
			<tr class="property-row property-row-person"><th>Author</th><td>Ana Ruiz</td></tr><tr class="property-row property-row-text"><th>Empty</th><td></td></tr></tbody></table></header>
			<div class="page-body"><p>Run it.</p><ul class="bulleted-list"><li>one</li></ul><figure class="callout"><div>!</div><div>Watch</div></figure></div></article></body></html>`,
		"Ops/Empty " + id + ".html": `<html><body><article class="page sans"><header><h1 class="page-title">Empty</h1></header><div class="page-body"></div></article></body></html>`,
	}, foreign.Programs{})
	want := []string{"Deploy | Date: March 20, 2025¶Author: Ana Ruiz¶¶Run it.¶¶- one¶¶> !¶> ¶> Watch | [Ops] 2025-03-20 by Ana Ruiz"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(unread, "index.html is no page") || !strings.Contains(unread, "Empty "+id+".html has no text") {
		t.Errorf("left out: %s", unread)
	}
}

// What is broken in an export, or says nothing, is named and costs itself alone.
func TestWhatIsBrokenInAnExportCostsItself(t *testing.T) {
	t.Parallel()
	of := strings.Repeat("5", 32)
	list := `<html><body><span id="title-text">DOCS : Home</span><div id="main-content">%s</div></body></html>`
	got, unread := read(t, map[string]string{
		"DOCS/Home_1.html":    fmt.Sprintf(list, `<ul class="childpages-macro"><li><a href="Two_2.html">Two</a></li></ul>`),
		"DOCS/Index_2.html":   fmt.Sprintf(list, `<ul><li><a href="Two_2.html">Two</a></li><li><a href="3.html">Three</a></li></ul>`),
		"DOCS/3.html":         fmt.Sprintf(list, `<p>See <a href="Two_2.html">Two</a></p>`),
		"Rows " + of + ".csv": "Name,Note\nA,x\n,\nA,y\nshort\nlong,z,more\nquo\"te,q",
		"team/users.json":     `[{"id":"U1","name":"ana"},{"id":2}]`,
		"team/channels.json":  `[{"id":"C1","name":"ops"},"x"]`,
		"team/ops/1.json":     `[{"ts":1,"text":"decided: no"},{"user":"U1","text":"*Decision:* use NATS","ts":"1746180000.1"},{"user":"U1","text":"结论：用 NATS","ts":"1746180001.1"},{"user":"U1","text":"my decision making: slow","ts":"1746180002.1"}]`,
		"team/ops/2.json":     `[{"user":"U1","te`,
	}, foreign.Programs{Decisions: true})
	want := []string{
		"#ops: *Decision:* use NATS | ana: *Decision:* use NATS | [] 2025-05-02 by ana",
		"#ops: 结论：用 NATS | ana: 结论：用 NATS | [] 2025-05-02 by ana",
		"DOCS : Home | See [Two](Two_2.html) | []",
		"Rows: A | Name: A¶Note: x | []", "Rows: A | Name: A¶Note: y | []", "Rows: long | Name: long¶Note: z | []",
		"Rows: quo\"te | Name: quo\"te¶Note: q | []", "Rows: short | Name: short | []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"DOCS/Home_1.html has no text but links", "DOCS/Index_2.html has no text but links", "team/users.json item 2", "team/channels.json item 2",
		"team/ops/1.json item 1", "team/ops/2.json is no list",
	} {
		if !strings.Contains(unread, want) {
			t.Errorf("%s is missing in:\n%s", want, unread)
		}
	}
}

func TestMemoriesMayHaveDatesOfAnyForm(t *testing.T) {
	t.Parallel()
	got, unread := read(t, map[string]string{
		"a.json": `[{"id":1,"memory":"a","created_at":1746180000,"user_id":7,"categories":"food","metadata":null},
			{"id":"b","memory":"b","created_at":1746180000123,"expiration_date":"2999-12-31"}, {"id":"c","memory":"c","expiration_date":"2024-12-31"},
			{"id":"d","memory":"d","created_at":"1746180000","expiration_date":32503680000}, 7, {"memory":"no id","created_at":{}}]`,
		"c.json": `[{"id":"f","memory":"f","expiration_date":1735603200000}]`,
		"b.json": `{"results":[{"id":"e","memory":"e, f","created_at":"2025-05-02","expiration_date":null}]}`,
	}, foreign.Programs{})
	want := []string{
		" | a | [] 2025-05-02", " | b (until 2999-12-31) | [] 2025-05-02", " | d (until 3000-01-01) | [] 2025-05-02",
		" | e, f | [] 2025-05-02", " | no id | []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(unread, "has no text") || !strings.Contains(unread, "c.json item 1 expired on 2024-12-31") ||
		!strings.Contains(unread, "a.json item 3 expired on 2024-12-31") || !strings.Contains(unread, "a.json item 5 is no object") {
		t.Errorf("left out: %s", unread)
	}
}

// read reads an export in a zip. It returns each item in a line, and what was left out.
func read(t *testing.T, files map[string]string, programs foreign.Programs) (got []string, unread string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.zip")
	export := fstest.MapFS{}
	for name, text := range files {
		export[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	if err := errors.Join(w.AddFS(export), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := markdown.Open(path, markdown.Forms{Others: programs})
	if err != nil || in == nil {
		t.Fatal(in, err)
	}
	ids := map[string]bool{}
	if err := in.Items(func(item markdown.Item) error {
		line := fmt.Sprintf("%s | %s | %v", item.Task, strings.ReplaceAll(item.Content, "\n", "¶"), item.Tags["folder"])
		if item.OccurredAt != nil {
			line += item.OccurredAt.Format(" 2006-01-02")
		}
		if item.Source != nil {
			line += " by " + item.Source.SubmittedBy
		}
		if ids[item.ID] {
			t.Errorf("%s has the id of another item", line)
		}
		ids[item.ID] = true
		got = append(got, line)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, left := range in.Unread {
		unread += left.File + " " + left.Why + "\n"
	}
	slices.Sort(got)
	return got, unread
}
