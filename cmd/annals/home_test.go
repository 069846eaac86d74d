package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/api"
)

// settings are what the users of nine hosts have set up before annals came.
var settings = map[string]string{
	".claude.json":                      `{"numStartups":7,"mcpServers":{"play":{"command":"npx","args":["play"]}},"big":12345678901234567890}`,
	".claude/settings.json":             "{\n\t\"hooks\": {\n\t\t\"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}],\n\t\t\"Stop\": []\n\t}\n}",
	".claude/CLAUDE.md":                 "# Mine\r\n\r\nTabs.",
	".codex/config.toml":                "model = \"o\" # mine\n\n[mcp_servers.play]\ncommand = \"npx\"\n",
	".codex/hooks.json":                 `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "uptime"}]}]}}`,
	".gemini/settings.json":             "{\n  // mine\n  \"hooks\": {\"BeforeAgent\": []},\n  \"mcpServers\": {\"gh\": {\"command\": \"gh\"},},\n}\n",
	".gemini/GEMINI.md":                 "",
	".qwen/settings.json":               "\n",
	".config/opencode/opencode.jsonc":   "{\r\n  \"permission\": {\"edit\": \"allow\"} // yes\r\n}\r\n",
	".config/opencode/AGENTS.md":        "Be brief.\n",
	".cursor/mcp.json":                  "\xef\xbb\xbf{}\n",
	".cursor/hooks.json":                `{"version": 1, "hooks": {"sessionEnd": [{"command": "./mine.sh"}]}}`,
	".codeium/windsurf/mcp_config.json": "{\n    \"mcpServers\": {\n    }\n}\n",
	".config/Code/User/mcp.json":        "{\n\t\"servers\": {\n\t\t\"play\": {\"command\": \"npx\"}\n\t}\n}\n",
	".config/goose/config.yaml":         "# mine\nextensions:\n    developer:\n        enabled: true\nGOOSE_MODE: auto\n",
}

// home is the home directory of a person, and the programs that they run there.
type home struct {
	*testing.T
	dir string
	env []string
	in  string // standard input
}

func (h *home) write(dir string, files map[string]string) {
	h.Helper()
	for name, text := range files {
		name = filepath.Join(h.dir, dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			h.Fatal(err)
		}
	}
}

// files are all files below a folder of the home.
func (h *home) files(dir string) map[string]string {
	h.Helper()
	all, root := map[string]string{}, os.DirFS(filepath.Join(h.dir, dir))
	if err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var text []byte
			text, err = fs.ReadFile(root, name)
			all[name] = string(text)
		}
		return err
	}); err != nil {
		h.Fatal(err)
	}
	return all
}

// edit writes a file with other words to a name: its own, or that of a copy.
func (h *home) edit(file, name, from, to string) {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, file))
	if err != nil || !strings.Contains(string(text), from) {
		h.Fatalf("%s has no %q: %v", file, from, err)
	}
	h.write("", map[string]string{name: strings.ReplaceAll(string(text), from, to)})
}

// move moves a file or folder; to nowhere into the bin.
func (h *home) move(from, to string) {
	h.Helper()
	from = filepath.Join(h.dir, from)
	into := filepath.Join(h.dir, cmp.Or(to, "bin/"+filepath.Base(from)))
	if err := errors.Join(os.MkdirAll(filepath.Dir(into), 0o700), os.Rename(from, into)); err != nil {
		h.Fatal(err)
	}
}

// annals runs the program, which must end with an exit code, and returns what it says to standard output.
func (h *home) annals(code int, args ...string) string {
	h.Helper()
	var out, complaints bytes.Buffer
	program := exec.CommandContext(h.Context(), "annals", args...)
	program.Dir, program.Env = h.dir, h.env
	program.Stdin, program.Stdout, program.Stderr = strings.NewReader(h.in), &out, &complaints
	err := program.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		h.Fatal(err)
	}
	if got := program.ProcessState.ExitCode(); got != code {
		h.Fatalf("annals %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), complaints.String())
	}
	return out.String()
}

// imports imports what must have this result, and returns the files that were left out, with the reasons.
func (h *home) imports(want string, args ...string) (unread string) {
	h.Helper()
	var s struct {
		Created, Unchanged, Revised, Failed int
		Conflicts, Unread                   []struct{ File, Why string }
		Stored, Messages                    int
	}
	code := map[bool]int{true: 4}[strings.Contains(want, "conflict")]
	if err := json.Unmarshal([]byte(h.annals(code, append([]string{"import", "--json"}, args...)...)), &s); err != nil {
		h.Fatal(err)
	}
	var got []string
	for i, n := range []int{s.Created, s.Unchanged, s.Revised, s.Failed, len(s.Conflicts), len(s.Unread), s.Messages, s.Stored} {
		if n > 0 {
			kinds := []string{"created", "unchanged", "revised", "refused", "conflicts", "left out", "messages", "stored"}
			got = append(got, fmt.Sprint(n, " ", kinds[i]))
		}
	}
	for _, left := range s.Unread {
		unread += left.File + " " + left.Why + "\n"
	}
	if got := strings.Join(got, ", "); got != want {
		h.Errorf("import %s: got %s, want %s\n%s%v", strings.Join(args, " "), got, want, unread, s.Conflicts)
	}
	h.Logf("%s: %s, %d refused", args[0], want, s.Failed)
	return unread
}

// vaultNotes is how many notes the vault has.
const vaultNotes = 300

// place is the file of a note of the vault. Each remainder of ten is a form of notes.
func place(n int) string {
	switch n % 10 {
	case 0:
		return fmt.Sprintf("Areas/Kettles/note %d.md", n)
	case 2:
		return fmt.Sprintf("Projekte/Übung %d (b).md", n)
	case 3:
		return time.Date(2024, 3, n, 0, 0, 0, 0, time.UTC).Format("日记/2006-01-02.md")
	case 6:
		return fmt.Sprintf("decisions/%04d-use-kettle-%d.md", n, n)
	case 9:
		return fmt.Sprintf("Places/%d/Kettle.md", n)
	}
	if n == 297 {
		return "CLAUDE.md"
	}
	return fmt.Sprintf("Cellar %d.md", n)
}

// linked is a link to a note, as a note in a folder has it. Each remainder of eight is a form of links.
func linked(to, form int, folder string) string {
	target := strings.TrimSuffix(place(to), ".md")
	relative, _ := filepath.Rel(folder, place(to))
	relative = filepath.ToSlash(relative)
	stem := path.Base(target)
	if to%10 == 9 { // of which there are many
		stem = target
	}
	switch form % 8 {
	case 0:
		return "[[" + stem + "|other words]]"
	case 1:
		return "[[" + stem + "#Where]]"
	case 2:
		return "[words](" + (&url.URL{Path: relative}).EscapedPath() + ")"
	case 3:
		return "[words](<" + relative + ">)"
	case 4:
		return "![[" + stem + "]]"
	case 5:
		if to%10 == 0 {
			return fmt.Sprintf("[[Second name %d]]", to)
		}
	case 6:
		return "[[" + target + "]]"
	}
	return "[[" + stem + "]]"
}

// note is the text of a note of the vault.
func note(n int) string {
	said := fmt.Sprintf("This is note %d.", n)
	links := func(form string) (text string) {
		for i, to := range []int{(n + 1) % vaultNotes, (7*n + 3) % vaultNotes, (n + vaultNotes - 1) % vaultNotes} {
			text += fmt.Sprintf(form, to, linked(to, n+3*i, path.Dir(place(n))))
		}
		return text
	}
	all := links("- to %d %s\n")
	long := func(bytes int) string { return strings.Repeat("More is said of kettles than of cups.\n\n", bytes/39) }
	switch n {
	case 297:
		return "# Shop\n\n" + said + "\n\n## Deploy\n\n" + all + "\n## Style\n\nTabs.\n"
	case 294:
		return said + "\n\n" + all + "\n## One\n\n" + long(50_000) + "## Two\n\n" + long(40_000)
	case 291:
		return said + "\n\n" + all + "\n" + long(150_000)
	}
	switch n % 10 {
	case 0:
		return fmt.Sprintf("---\ntitle: Kettle number %d\ndescription: What is known of it\naliases: [Second name %d, 壶%d%s]\ntags: [boil/hot]\ncreated: 2024-05-06\n---\n# Heading\n\n%s\n\n%s", n, n, n, map[int]string{120: ", Samowar"}[n], said, all)
	case 1:
		return fmt.Sprintf("# Cellar with %d cups\n\n%s #cup and #cup/blue, not a#b.\n\n%s", n, said, all)
	case 2:
		return strings.ReplaceAll(said+"\n\n## Where\n\n"+all, "\n", "\r\n")
	case 4:
		return "---\ntags: [1.10, 0x1F, yes]\ndate created: Monday, April 1st 2024\n---\n" + said + "\n\n" + all
	case 5:
		return said + " `[[ ]]` and `[[` and\n`]]`\n\n```sh\nif [[ -f x ]]; then # no heading\n  echo #notag [[Nowhere]]\nfi\n```\n\n" + all
	case 6:
		return fmt.Sprintf("# %d. Use kettle %d\n\nDate: 23.02.2015\n\n## Status\n\nAccepted\n\n## Where\n\n%s\n\n%s", n, n, said, all)
	case 7:
		return fmt.Sprintf("---\ntitle: \"What: is #%d / or [%d]?\"\ntags: [[x]]\ndate: 2025年2月23日\n---\n%s\n\n%s", n, n, said, all)
	case 8:
		return said + "\n\n| to | where |\n|---|---|\n" + links("| to %d | %s |\n")
	}
	return "---\nupdated: 3 de mayo de 2023\n---\n" + said + "\n\n" + all
}

// vault are the notes of the vault, and what else lies there.
func vault() map[string]string {
	all := map[string]string{
		".obsidian/app.json": "{}", "Templates/Daily.md": "{{date}}", "kettle.png": "\x89PNG", "Empty.md": "---\ntags: [x]\n---\n",
		"Torn.md": "---\nannals: {id: , revision: 1}\n---\nText",
	}
	for n := range vaultNotes {
		all[place(n)] = note(n)
	}
	return all
}

var toNote = regexp.MustCompile(`to (\d+) (?:\| )?!?(?:\[\[([^\]|#\\\n]+)[^\]\n]*\]\]|\[words\]\((?:<([^>\n]+)>|([^)\n]+))\))`)

// resolved counts the links between notes of the vault in an export, and those that lead to the right one.
func resolved(files map[string]string) (links, right int, wrong []string) {
	for name, text := range files {
		for _, l := range toNote.FindAllStringSubmatch(text, -1) {
			address, _, _ := strings.Cut(l[3]+l[4], "#")
			address, _ = url.PathUnescape(address)
			target := path.Join(path.Dir(name), address)
			var found []string
			for other := range files {
				if address == "" && strings.HasSuffix("/"+strings.ToLower(other), "/"+strings.ToLower(l[2])+".md") || other == target {
					found = append(found, other)
				}
			}
			if links++; len(found) == 1 && strings.Contains(files[found[0]], "This is note "+l[1]+".") {
				right++
			} else {
				wrong = append(wrong, fmt.Sprint(name, ": ", l[0], " leads to ", found))
			}
		}
	}
	return links, right, wrong
}

// What people have on their first day comes in once, wherever it lies, goes out as notes whose links work, comes in as
// it was edited, and all settings are left as they were.
func TestAHomeWithNotesAgentsAndExportsIsKept(t *testing.T) {
	databasetest.Slow(t)
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		h := &home{T: t, dir: t.TempDir()}
		h.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "TZ=UTC"}
		h.env = append(h.env, "ANNALS_SERVER="+startServer(t, t.TempDir(), append(h.env,
			"DATABASE_URL="+newDatabase(t), "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA="+t.TempDir())))
		h.write("", settings)

		h.annals(0, "install", "--dry-run")
		if diff := gocmp.Diff(settings, h.files("")); diff != "" {
			t.Errorf("a dry run changed (-want +got):\n%s", diff)
		}
		h.annals(0, "install")
		installed := h.files("")
		for name, text := range settings {
			if installed[name] == text {
				t.Errorf("%s was not changed", name)
			}
		}

		// A vault, once, also after it was moved; two colleagues have two clones of the same notes.
		h.write("Notes/brain", vault())
		const leftOut = "4 left out"
		unread := h.imports("306 created, "+leftOut, "Notes/brain")
		for _, want := range []string{"Empty.md has no text", "Templates is a folder of templates", "Torn.md has first lines", "kettle.png is not read"} {
			if !strings.Contains(unread, want) {
				t.Errorf("left out: no %s in\n%s", want, unread)
			}
		}
		h.move("Notes/brain", "Documents/brain")
		h.imports("306 unchanged, "+leftOut, "Documents/brain")
		for place, address := range map[string]string{"ann/book": "git@git.example.com:acme/book.git", "bob/src/handbook": "https://git.example.com/acme/book"} {
			h.write(place, map[string]string{
				".git/config": "[remote \"origin\"]\n\turl = " + address + "\n", "a/Cellar 1.md": "This is note 1001.",
				"b/Cellars.md": "This is note 1002. to 1001 [[Cellar 1]]", "b/Note.md": "---\r\ntitle: Sunrise\r\n---\r\nto 1002 [words](Cellars.md)",
			})
		}
		h.imports("3 created", "ann/book", "--map", ".=team:pay", "--as", "user:ann")
		h.imports("3 unchanged", "bob/src/handbook", "--map", ".=team:pay", "--as", "user:bob")
		if found := h.annals(0, "search", "samowar"); !strings.Contains(found, "Kettle number 120") {
			t.Errorf("an alias finds %s", found)
		}
		dated, tagged := 0, map[string]int{}
		for line := range strings.Lines(h.annals(0, "export", "knowledge")) {
			var k api.Knowledge
			if err := json.Unmarshal([]byte(line), &k); err != nil {
				t.Fatal(err)
			}
			if k.OccurredAt != nil {
				dated++
			}
			for _, label := range k.Tags["labels"] {
				tagged[label]++
			}
		}
		want := map[string]int{"boil/hot": 30, "cup": 29, "cup/blue": 29, "1.10": 29, "0x1F": 29, "yes": 29, "x": 29}
		if diff := gocmp.Diff(want, tagged); diff != "" || dated != 30+30+29+30+29+30 {
			t.Errorf("%d items have a date; labels (-want +got):\n%s", dated, diff)
		}

		// Exports of four programs, each twice.
		h.write("exports", exports())
		for n, again := range []bool{false, true} {
			notion := fmt.Sprintf("exports/notion-%d.zip", n)
			h.zip(notion, map[string]string{fmt.Sprintf("Export-%d-Part-1.zip", n): h.zip("exports/part.zip", h.files("exports/notion"))})
			once := func(n int, more string) string {
				return fmt.Sprint(n, map[bool]string{false: " created", true: " unchanged"}[again], more)
			}
			h.imports(once(5, ", 2 left out"), notion, "--root", "notion")
			h.imports(once(2, ", 3 left out"), "exports/wiki")
			h.imports(once(3, ""), "exports/slack", "--decisions")
			h.imports(once(2, ", 1 left out"), "exports/mem0.json")
		}

		// All of it goes out, and comes back as a person has edited it.
		export := func(want string, links int) {
			h.Helper()
			if got := strings.TrimSpace(h.annals(0, "export", "markdown", "out")); got != want {
				t.Errorf("export: got %s, want %s", got, want)
			}
			found, right, wrong := resolved(h.files("out"))
			if t.Logf("%d of %d links lead to their notes", right, found); found != links || right != links {
				t.Errorf("%d of %d links, want %d\n%s", right, found, links, strings.Join(wrong, "\n"))
			}
		}
		const all = 306 + 3 + 5 + 2 + 3 + 2
		export(fmt.Sprintf("%d notes written below out, 0 unchanged", all), 3*vaultNotes+2+4)
		h.imports(fmt.Sprint(all, " unchanged"), "out")
		const of = "out/user/default/"
		h.move(of+"Kettle number 10.md", of+"Kettle ten.md")
		h.move(of+"Kettle number 20.md", "out/old/20.md")
		h.edit("out/old/20.md", "out/old/20.md", "is note 20.", "is note 20. It is old.")
		h.move(of+"Kettle number 30.md", "")
		h.edit(of+"Kettle number 40.md", of+"Kettle number 40 copy.md", "", "")
		h.edit(of+"Kettle number 50.md", of+"Kettle 50b.md", "This is note 50.", "This is another note.")
		h.edit(of+"Cellar 4.md", of+"Cellar 4.md", "\n", "\r\n")
		h.edit(of+"Cellar 14.md", of+"Cellar 14.md", "This is note", "Here is note 14. This is note")
		h.edit(of+"Cellar 14.md", of+"Cellar 14.md", "\n", "\r\n")
		h.edit(of+"Cellar 24.md", of+"Cellar 24.md", "title: Cellar 24", "title: Wine")
		h.write(of, map[string]string{"Fresh.md": "New, see [[Kettle ten]]: to 10 [[Kettle ten]]"})
		h.imports(fmt.Sprintf("3 created, %d unchanged, 3 revised", all-4), "out")
		h.imports(fmt.Sprintf("%d unchanged", all+2), "out")
		const links = 3*vaultNotes + 2 + 4 + 3 + 3 + 1 // those of the copies, and of the new note
		export(fmt.Sprintf("14 notes written below out, %d unchanged", all+3-14), links)
		export(fmt.Sprintf("0 notes written below out, %d unchanged", all+3), links)
		h.imports(fmt.Sprintf("%d unchanged", all+3), "out")
		h.edit(of+"Kettle number 40 copy.md", of+"Kettle number 40 copy.md", "description: What is known of it", "description: A copy")

		// The vault was edited, too: what was edited in both places stays as it is in each.
		h.edit("Documents/brain/Cellar 4.md", "Documents/brain/Cellar 4.md", "note 4.", "note 4, as ever.")
		h.edit("Documents/brain/Cellar 14.md", "Documents/brain/Cellar 14.md", "note 14.", "note 14, as ever.")
		h.edit("Documents/brain/Cellar 34.md", "Documents/brain/Cellar 34.md", "\n", "\r\n")
		h.move("Documents/brain/Cellar 44.md", "Documents/brain/Wine 44.md")
		h.move("Documents/brain/Cellar 54.md", "")
		h.edit("Documents/brain/Cellar 64.md", "Documents/brain/Cellar 64 (copy).md", "", "")
		h.imports("2 created, 302 unchanged, 1 revised, 1 conflicts, "+leftOut, "Documents/brain")

		// What was said to two agents is stored once, also if a hook tells it before.
		h.in = `{"session_id":"` + codex + `","transcript_path":".codex/sessions/2026/rollout-2026-03-05T09-00-00-` + codex + `.jsonl"}`
		h.annals(0, "hook", "codex", "end")
		h.imports("2 messages", ".codex/sessions")
		h.imports("4 messages, 4 stored", ".claude/projects")
		h.imports("4 messages", ".claude/projects")
		if got := h.annals(0, "session", "show", "claude-code-"+claude); !strings.Contains(got, "from 2026-03-04 10:00:00Z to 2026-03-04 10:00:05Z") {
			t.Errorf("the session has other dates: %s", got)
		}

		h.annals(0, "uninstall")
		left := h.files("")
		for _, name := range []string{"Documents", "ann", "bob", "exports", "out", "bin", ".claude/projects", ".codex/sessions"} {
			maps.DeleteFunc(left, func(file, _ string) bool { return strings.HasPrefix(file, name+"/") })
		}
		if diff := gocmp.Diff(settings, left); diff != "" {
			t.Errorf("annals has left (-want +got):\n%s", diff)
		}
	})
}

// zip writes files into an archive, one of them under a name in GBK.
func (h *home) zip(name string, files map[string]string) string {
	h.Helper()
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	for name, text := range files {
		into, err := w.CreateHeader(&zip.FileHeader{Name: strings.ReplaceAll(name, "gbk", "\xc9\xe8\xbc\xc6"), NonUTF8: strings.Contains(name, "gbk")})
		if err == nil {
			_, err = into.Write([]byte(text))
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		h.Fatal(err)
	}
	h.write("", map[string]string{name: zipped.String()})
	return zipped.String()
}

// The ids of sessions.
const (
	claude = "6f1d2c3b-0000-4000-8000-000000000001"
	codex  = "019dec85-0000-7000-8000-000000000002"
)

// exports are what other programs export, in two folders and a file, and sessions of agents.
func exports() map[string]string {
	id := strings.Repeat("7", 32)
	page := func(title, body string) string {
		return "<html><body><span id='title-text'>Home : " + title + "</span><div class='page-metadata'>von <span class='author'>Ute</span> am 23.02.2015</div>" +
			"<div id='breadcrumbs'><a href='index.html'>Home</a></div><div id='main-content'>" + body + "</div></body></html>"
	}
	const table = "<table><tr><th>Env<th>Port</tr><tr><td>live<br>east</td><td><ul><li>80</li><li>443</li></ul></td></tr></table>"
	return map[string]string{
		"notion/Ops/Deploy " + id + ".md":                    "# Deploy\n\nCreated: March 20, 2025 1:52 PM\n\nThis is note 3001. to 3002 [words](Deploy%20" + id + "/Table%20" + id + ".html)",
		"notion/Ops/Deploy " + id + "/Table " + id + ".html": "<html><body><article class='page sans'><h1 class='page-title'>Table</h1><div class='page-body'><p>This is note 3002. to 3001 <a href='../Deploy%20" + id + ".html'>words</a></p>" + table + "</div></article></body></html>",
		"notion/Ops/gbk " + id + ".md":                       "# Plan\n\nText",
		"notion/Rows " + id + ".csv":                         "Name,Date\nOne,\"May 2, 2025\"\nTwo,",
		"notion/index.html":                                  "<html><body><ul><li>Ops</ul></body></html>", "notion/kettle.png": "PNG",
		"wiki/index.html": "<html><body>Pages</body></html>", "wiki/Home_1.html": page("Home", "<ul class='childpages-macro'><li><a href='Ports_2.html'>Ports</a></ul>"),
		"wiki/Ports_2.html": page("Ports", "<p>This is note 2002. to 2003 <a href='Tasks_3.html#Where'>words</a></p>"+table), "wiki/Tasks_3.html": page("Tasks", "<p>a &gt; b</p><p>This is note 2003. to 2002 <a href='Ports_2.html'>words</a></p>"), "wiki/a.png": "PNG",
		"slack/users.json":    `[{"id":"U1","name":"ana"}]`,
		"slack/channels.json": `[{"id":"C1","name":"ops"}]`,
		"slack/ops/2025-05-02.json": `[{"user":"U1","text":"Which port?","ts":"1746180000.1","thread_ts":"1746180000.1"},{"user":"U1","text":"Decided: 8443","ts":"1746180001.1","thread_ts":"1746180000.1"},
			{"user":"U1","text":"结论:用 NATS","ts":"1746180002.1"},{"user":"U1","text":"Decision: Mondays","ts":"1746180003.1"},{"user":"U1","text":"lunch?","ts":"1746180004.1"}]`,
		"mem0.json": `{"results":[{"id":"m1","memory":"Drinks tea","created_at":1746180000},{"id":"m2","memory":"Old","expiration_date":"2024-12-31"},{"id":"m3","memory":"Lives in Graz","created_at":"2025-05-02"}]}`,
		"../.claude/projects/-src/" + claude + ".jsonl": strings.Repeat(`{"type":"user","sessionId":"`+claude+`","timestamp":"2026-03-04T10:00:00Z","message":{"role":"user","content":"I like tabs"}}
{"type":"assistant","sessionId":"`+claude+`","timestamp":"2026-03-04T10:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"Tabs it is."}]}}
`, 2),
		"../.codex/sessions/2026/rollout-2026-03-05T09-00-00-" + codex + ".jsonl": `{"timestamp":"2026-03-05T09:00:00Z","type":"session_meta","payload":{"id":"` + codex + `"}}
{"timestamp":"2026-03-05T09:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Never push on Fridays"}]}}
{"timestamp":"2026-03-05T09:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Understood."}]}}
`,
	}
}
