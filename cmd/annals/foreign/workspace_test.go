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
		path := filepath.Join(t.TempDir(), name+".zip")
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
		in, err := markdown.Open(path, markdown.Forms{Others: foreign.Programs{}})
		if err != nil || in == nil {
			t.Fatal(in, err)
		}
		var all []markdown.Item
		if err := in.Items(func(item markdown.Item) error {
			all = append(all, item)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range all {
			line := fmt.Sprintf("%s | %s | %v", item.Task, strings.ReplaceAll(item.Content, "\n", "¶"), item.Tags["folder"])
			if item.OccurredAt != nil {
				line += item.OccurredAt.Format(" 2006-01-02")
			}
			if item.Source != nil {
				line += " by " + item.Source.SubmittedBy
			}
			got = append(got, line)
		}
		slices.Sort(got)
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
			t.Errorf("%s (-want +got):\n%s\nleft out:\n%v", name, diff, in.Unread)
		}
	}
}
