package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A key is sent to the scheme, host and port that it was stored for, whatever names the server or redirects to another.
func TestAKeyIsSentToItsOwnOriginAlone(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("annals")
	if err != nil {
		t.Fatal(err)
	}
	const a, key = "http://127.0.0.1:1", "the-key"
	search := []string{"search", "x"}
	for name, c := range map[string]struct {
		file, env string // SERVER is the address of the server that is called
		args      []string
		sent      bool
	}{
		"file, flag":                    {"server: " + a + "\napi-key: the-key", "", append(search, "--server", "SERVER"), false},
		"file, variable":                {"server: " + a + "\napi-key: the-key", "ANNALS_SERVER=SERVER", search, false},
		"file without a server":         {"api-key: the-key", "ANNALS_SERVER=SERVER", search, false},
		"file of another scheme":        {"server: httpsSERVER\napi-key: the-key", "ANNALS_SERVER=SERVER", search, false},
		"variables, flag":               {"", "ANNALS_KEY=the-key ANNALS_SERVER=" + a, append(search, "--server=SERVER"), false},
		"file and variable, flag":       {"server: " + a, "ANNALS_KEY=the-key", append(search, "--server=SERVER"), false},
		"hook":                          {"server: " + a + "\napi-key: the-key", "ANNALS_SERVER=SERVER", []string{"hook", "codex", "start"}, false},
		"mcp":                           {"server: " + a + "\napi-key: the-key", "ANNALS_SERVER=SERVER", []string{"mcp", "--team", "x"}, false},
		"install":                       {"server: " + a + "\napi-key: the-key", "", []string{"install", "--only=codex", "--server=SERVER"}, false},
		"completion":                    {"server: " + a + "\napi-key: the-key", "", []string{"__complete", "get", "--server=SERVER", "x"}, false},
		"doctor":                        {"server: " + a + "\napi-key: the-key", "", []string{"doctor", "--server=SERVER"}, false},
		"both in the file":              {"server: SERVER/\napi-key: the-key", "", search, true},
		"both in variables":             {"server: " + a, "ANNALS_KEY=the-key ANNALS_SERVER=SERVER", search, true},
		"both flags":                    {"server: " + a, "", append(search, "--server=SERVER", "--api-key=the-key"), true},
		"file, the same server":         {"server: SERVER\napi-key: the-key", "", append(search, "--server=SERVER/sub"), true},
		"file, beside a variable for A": {"server: SERVER\napi-key: the-key", "ANNALS_KEY=other ANNALS_SERVER=" + a, append(search, "--server=SERVER"), true},
		"variable for any server":       {"", "ANNALS_KEY=the-key", append(search, "--server=SERVER"), true},
		"variable, server in the file":  {"server: SERVER\napi-key: other", "ANNALS_KEY=the-key", search, true},
		"completion for the own server": {"server: SERVER\napi-key: the-key", "", []string{"__complete", "get", "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var guard sync.Mutex
			var keys []string
			elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("a redirection was followed, with %q", r.Header.Get("Authorization"))
			}))
			defer elsewhere.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				guard.Lock()
				defer guard.Unlock()
				keys = append(keys, r.Header.Get("Authorization"))
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			}))
			defer server.Close()
			named := strings.NewReplacer("httpsSERVER", "https"+strings.TrimPrefix(server.URL, "http"), "SERVER/", server.URL+"/", "=SERVER", "="+server.URL, ": SERVER", ": "+server.URL)
			home := t.TempDir()
			file := filepath.Join(home, "annals.yaml")
			if err := os.WriteFile(file, []byte(named.Replace(c.file)), 0o600); err != nil {
				t.Fatal(err)
			}
			process := exec.CommandContext(t.Context(), program)
			for _, arg := range c.args {
				if arg == "SERVER" {
					arg = server.URL
				}
				process.Args = append(process.Args, named.Replace(arg))
			}
			process.Dir, process.Stdin = home, strings.NewReader("{}")
			process.Env = append(strings.Fields(named.Replace(c.env)), "HOME="+home, "ANNALS_CONFIG="+file)
			said, _ := process.CombinedOutput() // it is refused
			if len(keys) == 0 || slices.Contains(keys, "Bearer "+key) != c.sent {
				t.Errorf("the server got %q\n%s", keys, said)
			}
		})
	}
}
