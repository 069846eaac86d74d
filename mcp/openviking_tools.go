package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/client"
)

// OpenViking is the name of the set of tools that an OpenViking server has.
const OpenViking = "openviking"

// rawArguments are the arguments of an OpenViking tool, as they came.
type rawArguments map[string]json.RawMessage

func (g rawArguments) text(name string) string {
	return textOf(g[name])
}

// texts is one text, or a list of them.
func (g rawArguments) texts(name string) []string {
	var list stringList
	_ = json.Unmarshal(g[name], &list)
	return list
}

// but are the arguments under the names of the HTTP API.
func (g rawArguments) but(renamed map[string]string, more map[string]any) map[string]any {
	body := map[string]any{}
	for name, value := range g {
		body[cmp.Or(renamed[name], name)] = value
	}
	maps.Copy(body, more)
	return body
}

// vikingTool is a tool under OpenViking's name and with its arguments: it asks the route below /api/v1 that does
// the same.
type vikingTool struct {
	name, description string
	input             map[string]any // JSON schemas of its arguments
	required          []string
	reads, destroys   bool
	do                func(ctx context.Context, api *client.Client, in rawArguments) (any, string, error)
}

var (
	aText    = map[string]any{"type": "string"}
	aTexts   = map[string]any{"type": []string{"string", "array"}, "items": aText}
	aNumber  = map[string]any{"type": "integer"}
	aScore   = map[string]any{"type": "number"}
	aFlag    = map[string]any{"type": "boolean"}
	someInts = map[string]any{"type": "array", "items": aNumber}
	messages = map[string]any{"type": "array", "items": map[string]any{
		"type": "object", "required": []string{"role", "content"},
		"properties": map[string]any{
			"role": map[string]any{"type": "string", "enum": []string{"user", "assistant"}}, "content": aText,
		},
	}}
)

func vikingTools() []vikingTool {
	searched := map[string]any{
		"query": aText, "target_uri": aTexts, "limit": aNumber, "min_score": aScore, "level": someInts,
	}
	inSession := map[string]any{
		"query": aText, "target_uri": aTexts, "session_id": aText, "limit": aNumber, "min_score": aScore, "level": someInts,
	}
	return []vikingTool{
		{name: "find", description: "Find memories, resources and skills by what they mean.", input: searched, required: []string{"query"}, reads: true, do: vikingSearch("find")},
		{name: "search", description: "Find memories, resources and skills by what they mean, in the course of a session.", input: inSession, required: []string{"query"}, reads: true, do: vikingSearch("search")},
		{name: "read", description: "Read one file or several, by their viking:// URIs.", input: map[string]any{"uris": aTexts}, required: []string{"uris"}, reads: true, do: vikingRead},
		{name: "list", description: "List what lies in a viking:// directory.", input: map[string]any{
			"uri": aText, "recursive": aFlag,
		}, required: []string{"uri"}, reads: true, do: vikingList("ls")},
		{name: "tree", description: "List what lies below a viking:// directory, level by level.", input: map[string]any{
			"uri": aText, "level_limit": aNumber, "node_limit": aNumber,
		}, required: []string{"uri"}, reads: true, do: vikingList("tree")},
		{name: "remember", description: "Keep what was said in long-term memory: the lessons in these messages are learned in the background.", input: map[string]any{"messages": messages}, required: []string{"messages"}, do: vikingRemember},
		{name: "write", description: "Write a text file at a viking:// URI. mode: replace, append or create.", input: map[string]any{"uri": aText, "content": aText, "mode": aText, "wait": aFlag}, required: []string{"uri", "content"}, do: vikingWrite},
		{name: "add_resource", description: "Add a file or a URL as a resource.", input: map[string]any{
			"path": aText, "temp_file_id": aText, "description": aText, "to": aText,
		}, do: vikingAdd},
		{name: "grep", description: "Find lines below a viking:// URI by a regular expression, or by several.", input: map[string]any{"uri": aText, "pattern": aTexts, "case_insensitive": aFlag, "node_limit": aNumber}, required: []string{"uri", "pattern"}, reads: true, do: vikingGrep},
		{name: "glob", description: "Find files below a viking:// URI by their names, such as *.md.", input: map[string]any{
			"pattern": aText, "uri": aText, "node_limit": aNumber,
		}, required: []string{"pattern"}, reads: true, do: vikingGlob},
		{name: "forget", description: "Remove what lies at a viking:// URI from all answers, when the user asks for it. Its history stays.", input: map[string]any{"uri": aText, "recursive": aFlag}, required: []string{"uri"}, destroys: true, do: vikingForget},
		{name: "health", description: "Whether the server answers, and as whom it knows the caller.", input: map[string]any{}, reads: true, do: func(ctx context.Context, api *client.Client, _ rawArguments) (any, string, error) {
			return status(ctx, api, arguments{})
		}},
	}
}

// addViking adds OpenViking's tools. Their text is what a model reads, the structured content what the HTTP API
// answers.
func (s *Server) addViking(server *sdk.Server) {
	for _, v := range vikingTools() {
		t, closed := tool{name: v.name}, v.name != "add_resource"
		schema := map[string]any{
			"type": "object", "properties": v.input, "required": append([]string{}, v.required...),
			"additionalProperties": false,
		}
		server.AddTool(&sdk.Tool{
			Name: v.name, Description: v.description, InputSchema: schema, OutputSchema: resultSchema,
			Annotations: &sdk.ToolAnnotations{
				ReadOnlyHint: v.reads, IdempotentHint: v.reads, DestructiveHint: &v.destroys, OpenWorldHint: new(!closed),
			},
		}, func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			in, err := v.read(call.Params.Arguments)
			if err != nil {
				return t.failed(err), nil
			}
			data, text, err := v.do(withCalledAt(ctx, call.Extra), s.api(call.Extra), in)
			if errors.Is(err, client.ErrNotFound) {
				err = errorWithFix{err, "find shows the uri of whatever there is"}
			}
			if err != nil {
				return t.failed(err), nil
			}
			return t.done(data, text), nil
		})
	}
}

// read refuses arguments that the tool does not have, or lacks. Their types are judged by the API.
func (v vikingTool) read(raw json.RawMessage) (rawArguments, error) {
	in := rawArguments{}
	if len(raw) > 0 && json.Unmarshal(raw, &in) != nil {
		return nil, argumentError{"the arguments must be an object"}
	}
	var bad []string
	for name, value := range in {
		if v.input[name] == nil {
			bad = append(bad, fmt.Sprintf("%q is not an argument of this tool", name))
		}
		if string(value) == "null" {
			delete(in, name)
		}
	}
	for _, name := range v.required {
		if value := string(in[name]); value == "" || value == `""` || value == "[]" {
			bad = append(bad, name+" must not be empty")
		}
	}
	slices.Sort(bad)
	if len(bad) > 0 {
		return nil, argumentError{strings.Join(bad, "; ")}
	}
	return in, nil
}

func vikingSearch(route string) func(context.Context, *client.Client, rawArguments) (any, string, error) {
	return func(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
		more := map[string]any{}
		if in["min_score"] == nil {
			more["score_threshold"] = 0.35
		}
		var found map[string]json.RawMessage
		err := api.Viking(
			ctx, "POST", "search/"+route, nil, in.but(map[string]string{"min_score": "score_threshold"}, more), &found,
		)
		var lines []string
		for _, kind := range [][2]string{{"memories", "memory"}, {"resources", "resource"}, {"skills", "skill"}} {
			var hits []struct {
				URI      string  `json:"uri"`
				Score    float64 `json:"score"`
				Abstract string  `json:"abstract"`
			}
			_ = json.Unmarshal(found[kind[0]], &hits)
			for _, h := range hits {
				lines = append(lines, fmt.Sprintf("- [%s %.0f%%] %s\n    %s", kind[1], 100*h.Score, h.URI, oneLine(h.Abstract)))
			}
		}
		if len(lines) == 0 {
			return found, "Nothing matches.", err
		}
		return found, fmt.Sprintf(
			"Found %d item(s):\n\n%s\n\nread shows what lies at a URI.", len(lines), strings.Join(lines, "\n"),
		), err
	}
}

func vikingRead(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	all := in.texts("uris")
	contents := map[string]string{}
	var parts []string
	for _, uri := range all {
		var content string
		if err := api.Viking(ctx, "GET", "content/read", url.Values{"uri": {uri}}, nil, &content); err != nil {
			if len(all) == 1 {
				return nil, "", err
			}
			parts = append(parts, "=== "+uri+" ===\n"+reasonOf(err).Message)
			continue
		}
		contents[uri] = content
		if len(all) == 1 {
			parts = append(parts, content)
		} else {
			parts = append(parts, "=== "+uri+" ===\n"+content)
		}
	}
	return map[string]any{"contents": contents}, strings.Join(parts, "\n\n"), nil
}

func vikingList(route string) func(context.Context, *client.Client, rawArguments) (any, string, error) {
	return func(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
		query := url.Values{"output": {"original"}}
		for name, value := range in {
			query.Set(name, cmp.Or(textOf(value), string(value)))
		}
		var entries []struct {
			Name  string `json:"name"`
			URI   string `json:"uri"`
			IsDir bool   `json:"isDir"`
		}
		err := api.Viking(ctx, "GET", "fs/"+route, query, nil, &entries)
		lines := []string{}
		for _, e := range entries {
			kind, name := "file", e.Name
			if e.IsDir {
				kind = "dir"
			}
			if route == "tree" || query.Get("recursive") == "true" {
				name = e.URI
			}
			lines = append(lines, "["+kind+"] "+name)
		}
		return map[string]any{"entries": entries}, cmp.Or(strings.Join(lines, "\n"), "Nothing lies there."), err
	}
}

func vikingRemember(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	session := "mcp-" + strings.ToLower(rand.Text())
	if err := api.Viking(ctx, "POST", "sessions/"+session+"/messages/batch", nil, in, nil); err != nil {
		return nil, "", err
	}
	var done map[string]any
	err := api.Viking(ctx, "POST", "sessions/"+session+"/commit", nil, map[string]any{"trigger": "stated"}, &done)
	return done, "The messages are kept. What they teach is learned in the background.", err
}

func vikingWrite(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	var done map[string]any
	write := func(mode string) error {
		return api.Viking(ctx, "POST", "content/write", nil, in.but(nil, map[string]any{"mode": mode}), &done)
	}
	mode := cmp.Or(in.text("mode"), "replace")
	err := write(mode)
	if errors.Is(err, client.ErrNotFound) && in["mode"] == nil {
		err = write("create") // a file is made where there is none
	}
	return done, "Written: " + in.text("uri"), err
}

func vikingAdd(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	var done map[string]any
	err := api.Viking(ctx, "POST", "resources", nil, in.but(map[string]string{"description": "reason"}, nil), &done)
	return done, fmt.Sprintf("Added: %v", done["root_uri"]), err
}

func vikingGrep(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	type line struct {
		Line    int    `json:"line"`
		URI     string `json:"uri"`
		Content string `json:"content"`
		Pattern string `json:"pattern"`
	}
	all := []line{}
	for _, pattern := range in.texts("pattern") {
		var found struct {
			Matches []line `json:"matches"`
		}
		if err := api.Viking(
			ctx, "POST", "search/grep", nil, in.but(nil, map[string]any{"pattern": pattern}), &found,
		); err != nil {
			return nil, "", err
		}
		for _, m := range found.Matches {
			m.Pattern = pattern
			all = append(all, m)
		}
	}
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = fmt.Sprintf("%s:%d: %s", m.URI, m.Line, m.Content)
	}
	return map[string]any{"matches": all, "count": len(all)}, cmp.Or(strings.Join(lines, "\n"), "No line matches."), nil
}

func vikingGlob(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	var found struct {
		Matches []string `json:"matches"`
		Count   int      `json:"count"`
	}
	err := api.Viking(ctx, "POST", "search/glob", nil, in, &found)
	return found, cmp.Or(strings.Join(found.Matches, "\n"), "No name matches."), err
}

func vikingForget(ctx context.Context, api *client.Client, in rawArguments) (any, string, error) {
	query := url.Values{"uri": {in.text("uri")}}
	if in["recursive"] != nil {
		query.Set("recursive", string(in["recursive"]))
	}
	var done struct {
		URI   string `json:"uri"`
		Count int    `json:"estimated_deleted_count"`
	}
	err := api.Viking(ctx, "DELETE", "fs", query, nil, &done)
	return done, fmt.Sprintf("Removed %d item(s) at %s; their history stays.", done.Count, done.URI), err
}
