package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home has settings of every host, as their users have them.
var home = map[string]string{
	".claude.json":                        `{"numStartups":41,"autoUpdates":true,"big":12345678901234567890,"mcpServers":{"playwright":{"command":"npx","args":["@playwright/mcp@latest"]}},"projects":{"/src/app":{"hasTrustDialogAccepted":true}}}`,
	".claude/settings.json":               "{\n\t\"permissions\": {\n\t\t\"deny\": [\"Read(.env)\"]\n\t},\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]\n\t\t\t}\n\t\t]\n\t}\n}",
	".claude/CLAUDE.md":                   "# Mine\n\n- Use tabs",
	".codex/config.toml":                  "model = \"o\" # mine\n\n[mcp_servers.context7]\ncommand = \"npx\"\nargs = [\n  \"-y\",\n]\n\n# trusted\n[projects.\"/src/app\"]\ntrust_level = \"trusted\"\n",
	".codex/hooks.json":                   "{}",
	".gemini/settings.json":               "{\n  // the theme\n  \"ui\": {\"theme\": \"Atom\"},\n  \"mcpServers\": {\n    \"github\": {\"command\": \"gh\"}, // mine\n  },\n}\n",
	".qwen/settings.json":                 "",
	".config/opencode/opencode.json":      "{\r\n  \"$schema\": \"https://opencode.ai/config.json\",\r\n  \"permission\": {\"edit\": \"allow\"} // yes\r\n}\r\n",
	".cursor/mcp.json":                    "\xef\xbb\xbf{ }\n",
	".codeium/windsurf/mcp_config.json":   "{\n    \"mcpServers\": {\n    }\n}\n",
	".config/Code/User/mcp.json":          "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"play\": {\n\t\t\t\"command\": \"npx\"\n\t\t}\n\t}\n}\n",
	".config/goose/config.yaml":           "GOOSE_MODE: auto # mine\nextensions:\n    developer:\n        enabled: true\n        type: builtin\n\n# last\nactive_provider: x\n",
	".codeium/windsurf/memories/rules.md": "other",
}

func fill(t *testing.T, files map[string]string) access {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, ".config")
	m := machine{user: dir, config: config, apps: config, getenv: func(string) string { return "" }}
	return access{machine: m, program: "/opt/my annals"}
}

func TestEveryHostIsSetUpAndLeftAsItWas(t *testing.T) {
	a := fill(t, home)
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			var p plan
			p.add(h.name, h.changes(h.home(a.machine), a))
			if err := p.edit(p.files, edit.put, ""); err != nil {
				t.Fatal(err)
			}
			for _, f := range p.files {
				name, _ := filepath.Rel(a.user, f.path)
				golden(t, filepath.Join("testdata", h.id, filepath.Base(name)), f.after)
				if rest := strings.TrimRight(string(f.before), "\r\n"); !isWithin(rest, string(f.after)) {
					t.Errorf("%s lost something: %s", name, f.after)
				}
				again := *f
				again.before = f.after
				if err := again.edit(edit.put); err != nil || string(again.after) != string(f.after) {
					t.Errorf("%s: put again, %v: %s", name, err, again.after)
				}
				if err := again.edit(edit.take); err != nil {
					t.Errorf("%s: taken: %v", name, err)
				}
				golden(t, filepath.Join("testdata", h.id, filepath.Base(name)+".taken"), again.after)
			}
		})
	}
}

func TestWhatOthersHaveAddedStays(t *testing.T) {
	hook := jsonEdit{[]string{"hooks", "Start"}, map[string]any{"hooks": []any{map[string]any{"command": "new hook x start"}}}, " hook x start", false}
	for name, c := range map[string]struct {
		edit                edit
		text, put, takenOff string
	}{
		"a hook beside ours": {
			hook, `{"hooks":{"Start":[{"hooks":[{"command":"old hook x start","timeout":9},{"command":"mine"}]}]}}`,
			`{"hooks":{"Start":[{"hooks":[{"command":"new hook x start","timeout":9},{"command":"mine"}]}]}}`,
			`{"hooks":{"Start":[{"hooks":[{"command":"mine"}]}]}}`,
		},
		"an entry in another layout": {jsonEdit{path: []string{"a", "b"}, value: []string{"c"}}, `{"a":{"b":[ "c" ]}}`, `{"a":{"b":[ "c" ]}}`, `{}`},
		"null":                       {jsonEdit{path: []string{"a", "b"}, value: 1}, `{"a":null}`, `{"a": {"b":1}}`, `{}`},
		"an empty list beside ours":  {hook, `{"hooks":{"End":[]}}`, `{"hooks":{"End":[], "Start": [{"hooks":[{"command":"new hook x start"}]}]}}`, `{"hooks":{"End":[]}}`},
		"the only one in YAML":       {yamlEdit{[]string{"a", "b"}, 1}, "c: 1\n", "c: 1\n\na:\n  b: 1\n", "c: 1\n\n"},
		"the only one between":       {yamlEdit{[]string{"a", "b"}, 1}, "a:\n  b: 1\nc: 1\n", "a:\n  b: 1\nc: 1\n", "c: 1\n"},
		"the last one in YAML":       {yamlEdit{[]string{"a"}, 1}, "c: 1\n", "c: 1\n\na: 1\n", "c: 1\n\n"},
		"nothing":                    {jsonEdit{path: []string{"a"}, value: 1}, "", "{\n  \"a\": 1\n}\n", "{\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := c.edit.put([]byte(c.text))
			if err != nil || string(after) != c.put {
				t.Errorf("put: %v, %s", err, after)
			}
			if again, err := c.edit.put(after); err != nil || string(again) != c.put {
				t.Errorf("put again: %v, %s", err, again)
			}
			if taken, err := c.edit.take(after); err != nil || string(taken) != c.takenOff {
				t.Errorf("taken: %v, %q", err, taken)
			}
		})
	}
	if none, err := hook.take(nil); err != nil || len(none) > 0 {
		t.Errorf("of an empty file: %v, %s", err, none)
	}
}

func TestWhatCannotBeEditedIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		edit edit
		text string
	}{
		"JSON that is none":       {jsonEdit{path: []string{"a", "b"}, value: 1}, `{"a": `},
		"a list for an object":    {jsonEdit{path: []string{"a", "b"}, value: 1}, `{"a": []}`},
		"a word for a list":       {jsonEdit{path: []string{"a"}, value: 1, mark: "x"}, `{"a": "b"}`},
		"a list for a file":       {jsonEdit{path: []string{"a"}, value: 1}, `[1]`},
		"TOML that is none":       {tomlEdit{"a.b", "c = 1\n"}, "a = = 1\n"},
		"an inline table":         {tomlEdit{"a.b", "c = 1\n"}, "a = {x = 1}\n"},
		"YAML that is none":       {yamlEdit{[]string{"a", "b"}, 1}, "a: [\n"},
		"several documents":       {yamlEdit{[]string{"a", "b"}, 1}, "a:\n---\nb: 1\n"},
		"an inline mapping":       {yamlEdit{[]string{"a", "b"}, 1}, "a: {x: 1}\n"},
		"half a section":          {section{"x\n"}, sectionBegins + "x\n"},
		"a section the wrong way": {section{"x\n"}, sectionEnds + sectionBegins},
	} {
		t.Run(name, func(t *testing.T) {
			if after, err := c.edit.put([]byte(c.text)); err == nil {
				t.Errorf("became %q", after)
			}
		})
	}
}

// isWithin tells whether a text is another one from which characters were removed.
func isWithin(part, all string) bool {
	for i := 0; i < len(all) && part != ""; i++ {
		if all[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}

// golden compares a text with a file; with UPDATE=1 it writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != string(got) {
		t.Errorf("%s is, %v:\n%s", name, err, got)
	}
}
