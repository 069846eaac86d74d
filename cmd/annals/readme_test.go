package main

import (
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

// What README shows is what happens, letter for letter but for the times. So are the questions that
// it and the API's own page ask with curl.
func TestReadmeShowsWhatHappens(t *testing.T) {
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		readme := written(t, "README.md")
		r := newReader(t, newDatabase(t))
		for _, shown := range transcript(t, readme) {
			servertest.Same(t, r.types(shown.command), shown.answer, "$ "+shown.command)
			r.waits()
		}
		r.asks(readme, terminal.DefaultServer)
		for _, command := range regexp.MustCompile("`(bin/annals [^`]*)`").FindAllStringSubmatch(readme, -1) {
			if command[1] != "bin/annals serve" { // which does not end
				r.types(command[1])
			}
		}
		r.asks(html.UnescapeString(r.get("/docs")), r.server)
	})
}

// reader is somebody who does what a page says: a shell in a directory where bin/annals was built, and
// a server.
type reader struct {
	t      *testing.T
	dir    string
	env    []string
	server string
}

func newReader(t *testing.T, database string) *reader {
	program, err := exec.LookPath("annals")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: t.TempDir(), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TZ=UTC", "COLUMNS=80",
		"DATABASE_URL=" + database, "ANNALS_LISTEN=127.0.0.1:0",
	}}
	if err := os.Mkdir(filepath.Join(r.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(r.dir, "bin", "annals")); err != nil {
		t.Fatal(err)
	}
	home := strings.TrimPrefix(r.env[1], "HOME=") // of somebody who uses Claude Code
	const said = `{"type":"user","sessionId":"s1","message":{"role":"user","content":"I prefer tabs"}}`
	for name, text := range map[string]string{
		filepath.Join(r.dir, "CLAUDE.md"): "Use tabs.", filepath.Join(home, ".claude", "projects", "app", "s1.jsonl"): said,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r.server = startServer(t, r.dir, r.env)
	r.env = append(r.env, "ANNALS_SERVER="+r.server)
	return r
}

var when = regexp.MustCompile(`\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d))?`)

// types runs a command, which must end well, and returns what it prints.
func (r *reader) types(command string) string {
	process := exec.CommandContext(r.t.Context(), "sh", "-c", command)
	process.Dir, process.Env = r.dir, r.env
	answer, err := process.CombinedOutput()
	if err != nil {
		r.t.Fatalf("$ %s\n%s%v", command, answer, err)
	}
	return when.ReplaceAllString(string(answer), "TIME")
}

// waits until vectors have followed what was remembered, as somebody who types does.
func (r *reader) waits() {
	databasetest.Until(r.t, "projections have followed", func() bool {
		var list struct {
			Items []struct {
				Lag int64 `json:"lag_events"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(r.get("/v1/projections")), &list); err != nil {
			r.t.Fatal(err)
		}
		behind := int64(0)
		for _, projection := range list.Items {
			behind += projection.Lag
		}
		return behind == 0
	})
}

var curl = regexp.MustCompile(`curl (?:-s |-X POST )?(http://\S+?)(/\S+) -H ['"]([^'":]+): ([^'"]+)['"](?: -d '([^']+)')?`)

// asks does what a page's calls of curl would do, which must be of the server at that address. A search must find
// something.
func (r *reader) asks(page, at string) {
	calls := curl.FindAllStringSubmatch(page, -1)
	if len(calls) == 0 || len(calls) != strings.Count(page, "curl ") {
		r.t.Fatalf("%d of %d calls of curl are understood", len(calls), strings.Count(page, "curl "))
	}
	for _, call := range calls {
		if call[1] != at {
			r.t.Errorf("%s is another server than %s", call[1], at)
		}
		method := http.MethodPost
		if call[5] == "" {
			method = http.MethodGet
		}
		request, err := http.NewRequestWithContext(r.t.Context(), method, r.server+call[2], strings.NewReader(call[5]))
		if err != nil {
			r.t.Fatal(err)
		}
		request.Header.Set(call[3], call[4])
		answer := r.send(request)
		if call[2] == "/v1/search" && !strings.Contains(answer, `"score"`) {
			r.t.Errorf("%s\nfinds nothing: %s", call[0], answer)
		}
		r.waits()
	}
}

func (r *reader) get(path string) string {
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.server+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.send(request)
}

// send returns the body of an answer, which must be a good one.
func (r *reader) send(request *http.Request) string {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		r.t.Fatal(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		r.t.Fatalf("%s %s: %s\n%s", request.Method, request.URL.Path, response.Status, body)
	}
	return string(body)
}

// shown is a command and what a page says that it answers.
type shown struct{ command, answer string }

// transcript reads the block that is marked as executed.
func transcript(t *testing.T, page string) []shown {
	_, block, marked := strings.Cut(page, "<!-- executed by a test, on both engines -->\n```console\n")
	block, _, ended := strings.Cut(block, "```\n")
	if !marked || !ended {
		t.Fatal("no block of console is marked as executed")
	}
	var all []shown
	for line := range strings.Lines(block) {
		if command, isCommand := strings.CutPrefix(line, "$ "); isCommand {
			all = append(all, shown{command: strings.TrimSuffix(command, "\n")})
			continue
		}
		all[len(all)-1].answer += when.ReplaceAllString(line, "TIME")
	}
	return all
}
