package agents

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// host is a program that runs coding agents.
type host struct {
	id, name string
	home     func(machine) string // the directory that it leaves on a machine where it is installed
	changes  func(dir string, a access) []change
	note     string // what the user must do
}

// change is a change of one file.
type change struct {
	file string
	what string // as a word of the plan
	edit edit
}

// isServer is the change that adds the MCP server.
const isServer = "MCP server"

// machine is where hosts keep their settings.
type machine struct {
	user   string // the home directory
	config string // ~/.config
	apps   string // of programs with windows
	getenv func(string) string
}

func thisMachine() (machine, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return machine{}, err
	}
	m := machine{user: user, config: terminal.ConfigHome(), getenv: os.Getenv}
	switch runtime.GOOS {
	case "darwin":
		m.apps = filepath.Join(user, "Library", "Application Support")
	case "windows":
		m.apps = cmp.Or(os.Getenv("APPDATA"), filepath.Join(user, "AppData", "Roaming"))
	default:
		m.apps = m.config
	}
	return m, nil
}

func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// under is the directory in a variable, or one in the home directory.
func under(variable string, parts ...string) func(machine) string {
	return func(m machine) string {
		if dir := absolute(m.getenv(variable)); dir != "" {
			return dir
		}
		return filepath.Join(m.user, filepath.Join(parts...))
	}
}

// access is how a host's agent reaches Annals.
type access struct {
	machine
	program string   // the path of annals
	args    []string // who acts
}

// mcp is the command that a host starts.
func (a access) mcp() []string { return append([]string{"mcp"}, a.args...) }

// stdio is the entry of an MCP server in most hosts.
func (a access) stdio() map[string]any { return map[string]any{"command": a.program, "args": a.mcp()} }

// hook is the command line of a hook.
func (a access) hook(of, stage string) string {
	program := a.program
	if strings.ContainsAny(program, " '()&") {
		program = `"` + program + `"`
	}
	return strings.Join(append([]string{program, "hook", of, stage}, a.args...), " ")
}

// A stage of a session at which hosts call hooks.
const (
	atStart  = "start"
	atPrompt = "prompt"
	atEnd    = "end"
)

// event is a host's name of a stage, and how long its hook may take there.
type event struct {
	stage, name string
	timeout     int
}

// hooks are the changes that let a host call hooks. An entry is within a group, as in Claude Code, if grouped.
func (a access) hooks(file, of string, grouped bool, events ...event) []change {
	var all []change
	for _, e := range events {
		value := map[string]any{"command": a.hook(of, e.stage), "timeout": e.timeout}
		if grouped {
			value["type"] = "command"
			value = map[string]any{"hooks": []any{value}}
		}
		all = append(all, change{file, "hook " + e.stage, jsonEdit{
			path: []string{"hooks", e.name}, value: value, mark: " hook " + of + " " + e.stage,
		}})
	}
	return all
}

// server is the change that adds the MCP server to JSON.
func (a access) server(file string, path ...string) change {
	return change{file, isServer, jsonEdit{path: append(path, "annals"), value: a.stdio()}}
}

// instructions are what an agent is told about the memory.
func instructions(file string) change {
	return change{file, "instructions", section{`## Shared memory: Annals

The MCP server "annals" holds what people and agents of this organisation know.

- Before a task, call retrieve_memory with what you are about to do.
- When you learn what others will need (a decision, a pitfall, how something is done, what the user
  prefers), call remember. Never store secrets.
- Call give_feedback when something you found helped or harmed, and report_stale_memory when it is
  out of date.
`}}
}

// oneFile are the changes of Gemini CLI, and of what has come of it: one file has both server and hooks.
func oneFile(of, prompt, told string) func(dir string, a access) []change {
	const timeout = 10_000 // milliseconds
	return func(dir string, a access) []change {
		settings := filepath.Join(dir, "settings.json")
		all := append([]change{a.server(settings, "mcpServers")}, a.hooks(settings, of, true,
			event{atStart, "SessionStart", timeout}, event{atPrompt, prompt, timeout}, event{atEnd, "SessionEnd", timeout})...)
		return append(all, instructions(filepath.Join(dir, told)))
	}
}

// hosts are the programs that annals install knows. docs/agents.md names the sources of their formats.
var hosts = []host{
	{
		id: "claude-code", name: "Claude Code", home: under("CLAUDE_CONFIG_DIR", ".claude"),
		changes: func(dir string, a access) []change {
			state := filepath.Join(a.user, ".claude.json")
			if absolute(a.getenv("CLAUDE_CONFIG_DIR")) != "" {
				state = filepath.Join(dir, ".claude.json")
			}
			settings := filepath.Join(dir, "settings.json")
			all := append([]change{a.server(state, "mcpServers")}, a.hooks(settings, "claude-code", true,
				event{atStart, "SessionStart", 10}, event{atPrompt, "UserPromptSubmit", 10}, event{atEnd, "SessionEnd", 30})...)
			return append(all, instructions(filepath.Join(dir, "CLAUDE.md")))
		},
	},
	{
		id: "codex", name: "Codex", home: under("CODEX_HOME", ".codex"),
		note: "accept the hooks when it asks, or with /hooks",
		changes: func(dir string, a access) []change {
			args := make([]string, len(a.mcp()))
			for i, arg := range a.mcp() {
				args[i] = fmt.Sprintf("%q", arg)
			}
			body := fmt.Sprintf("command = %q\nargs = [%s]\n", a.program, strings.Join(args, ", "))
			all := []change{{filepath.Join(dir, "config.toml"), isServer, tomlEdit{"mcp_servers.annals", body}}}
			all = append(all, a.hooks(filepath.Join(dir, "hooks.json"), "codex", true,
				event{atStart, "SessionStart", 10}, event{atPrompt, "UserPromptSubmit", 10}, event{atEnd, "SessionEnd", 3})...)
			return append(all, instructions(filepath.Join(dir, "AGENTS.md")))
		},
	},
	{
		id: "gemini", name: "Gemini CLI", home: func(m machine) string {
			return filepath.Join(cmp.Or(absolute(m.getenv("GEMINI_CLI_HOME")), m.user), ".gemini")
		},
		changes: oneFile("gemini", "BeforeAgent", "GEMINI.md"),
	},
	{
		id: "qwen", name: "Qwen Code", home: under("QWEN_HOME", ".qwen"),
		changes: oneFile("qwen", "UserPromptSubmit", "QWEN.md"),
	},
	{
		id: "opencode", name: "OpenCode", home: func(m machine) string { return filepath.Join(m.config, "opencode") },
		changes: func(dir string, a access) []change {
			file := filepath.Join(dir, "opencode.json")
			if commented := filepath.Join(dir, "opencode.jsonc"); exists(commented) && !exists(file) {
				file = commented
			}
			path := []string{"mcp", "annals"}
			text, _ := os.ReadFile(file) // opening it again reports errors
			if doc, err := hujson.Parse(text); err == nil && doc.Find("/mcp/servers") != nil {
				path = []string{"mcp", "servers", "annals"}
			}
			all := []change{{file, isServer, jsonEdit{path: path, value: map[string]any{
				"type": "local", "command": append([]string{a.program}, a.mcp()...), "enabled": true,
			}}}}
			// without AGENTS.md it reads CLAUDE.md, which a new AGENTS.md would hide
			told := filepath.Join(dir, "AGENTS.md")
			if exists(told) || !exists(filepath.Join(a.user, ".claude")) {
				all = append(all, instructions(told))
			}
			return all
		},
	},
	{
		id: "cursor", name: "Cursor", home: under("", ".cursor"),
		changes: func(dir string, a access) []change {
			file := filepath.Join(dir, "hooks.json")
			all := []change{a.server(filepath.Join(dir, "mcp.json"), "mcpServers")}
			all = append(all, change{file, "", jsonEdit{path: []string{"version"}, value: 1, stays: true}})
			return append(all, a.hooks(file, "cursor", false,
				event{atStart, "sessionStart", 10}, event{atPrompt, "beforeSubmitPrompt", 10}, event{atEnd, "sessionEnd", 10})...)
		},
	},
	{
		id: "windsurf", name: "Windsurf", home: under("", ".codeium", "windsurf"),
		changes: func(dir string, a access) []change {
			return []change{
				a.server(filepath.Join(dir, "mcp_config.json"), "mcpServers"),
				instructions(filepath.Join(dir, "memories", "global_rules.md")),
			}
		},
	},
	{
		id: "vscode", name: "VS Code", home: func(m machine) string { return filepath.Join(m.apps, "Code", "User") },
		note: "trust the MCP server when it asks",
		changes: func(dir string, a access) []change {
			entry := a.stdio()
			entry["type"] = "stdio"
			edit := jsonEdit{path: []string{"servers", "annals"}, value: entry}
			return []change{{filepath.Join(dir, "mcp.json"), isServer, edit}}
		},
	},
	{
		id: "goose", name: "Goose", home: func(m machine) string {
			if runtime.GOOS == "windows" {
				return filepath.Join(m.apps, "Block", "goose", "config")
			}
			return filepath.Join(m.config, "goose")
		},
		changes: func(dir string, a access) []change {
			return []change{
				{filepath.Join(dir, "config.yaml"), isServer, yamlEdit{[]string{"extensions", "annals"}, map[string]any{
					"enabled": true, "type": "stdio", "name": "annals", "cmd": a.program, "args": a.mcp(), "timeout": 300,
				}}},
				instructions(filepath.Join(dir, "AGENTS.md")),
			}
		},
	},
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ids are the ids of all hosts.
func ids() []string {
	all := make([]string, len(hosts))
	for i, h := range hosts {
		all[i] = h.id
	}
	return all
}
