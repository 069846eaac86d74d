package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

type hostsKey struct{}

// hosts are the MCP hosts of a script, each with an annals mcp that it has started.
type hosts map[string]*mcp.ClientSession

// host lets an MCP host call a tool. A host that is new starts annals mcp first, with the flags before the tool.
func host(ts *testscript.TestScript, neg bool, args []string) {
	all := ts.Value(hostsKey{}).(hosts)
	var flags []string
	for len(args) > 1 && strings.HasPrefix(args[1], "-") {
		flags, args = append(flags, args[1]), append(args[:1:1], args[2:]...)
	}
	usage(ts, len(args) < 2 || len(args) > 3, "[!] host NAME [FLAGS…] TOOL [ARGUMENTS]")
	if all[args[0]] == nil {
		all[args[0]] = start(ts, flags)
	}
	arguments := map[string]any{}
	if len(args) == 3 {
		ts.Check(json.Unmarshal([]byte(args[2]), &arguments))
	}
	answer, err := all[args[0]].CallTool(context.Background(), &mcp.CallToolParams{Name: args[1], Arguments: arguments})
	ts.Check(err)
	said, err := json.Marshal(answer.StructuredContent)
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%s\n%s\n", answer.Content[0].(*mcp.TextContent).Text, said)
	ts.Check(err)
	if answer.IsError != neg {
		ts.Fatalf("%s: %s", args[1], said)
	}
}

func start(ts *testscript.TestScript, flags []string) *mcp.ClientSession {
	session, err := begin(ts, flags)
	ts.Check(err)
	return session
}

func begin(ts *testscript.TestScript, flags []string) (*mcp.ClientSession, error) {
	program, err := exec.LookPath("annals")
	if err != nil {
		return nil, err
	}
	said := &bytes.Buffer{}
	process := exec.Command(program, append([]string{"mcp"}, flags...)...) //nolint:noctx // leave ends it
	process.Dir, process.Stderr = ts.MkAbs("."), said
	for _, name := range []string{
		"PATH", "HOME", "XDG_DATA_HOME", "TMPDIR", "DATABASE_URL", "ANNALS_LISTEN",
		"ANNALS_DATA", "ANNALS_SERVER", "ANNALS_KEY", "ANNALS_ON_BEHALF_OF",
	} {
		process.Env = append(process.Env, name+"="+ts.Getenv(name))
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: process}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	return session, nil
}

// crowd lets so many hosts start annals mcp at the same time and call a tool, and leave.
func crowd(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 3, "crowd N TOOL ARGUMENTS")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := make([]*mcp.ClientSession, n)
	failed := make([]error, n)
	var starting sync.WaitGroup
	for i := range n {
		starting.Go(func() { all[i], failed[i] = begin(ts, nil) })
	}
	starting.Wait()
	ts.Check(errors.Join(failed...))
	for _, session := range all {
		answer, err := session.CallTool(context.Background(),
			&mcp.CallToolParams{Name: args[1], Arguments: json.RawMessage(args[2])})
		if err != nil || answer.IsError {
			ts.Fatalf("%s: %v, %+v", args[1], err, answer)
		}
		ts.Check(session.Close())
	}
}

// leave ends a host, and with it the annals mcp that it has started, which must end well.
func leave(ts *testscript.TestScript, neg bool, args []string) {
	all := ts.Value(hostsKey{}).(hosts)
	usage(ts, neg || len(args) != 1 || all[args[0]] == nil, "leave NAME, after host NAME")
	ts.Check(all[args[0]].Close())
	delete(all, args[0])
}

func (h hosts) end() {
	for _, session := range h {
		_ = session.Close() // the script has failed, or does not mind
	}
}
