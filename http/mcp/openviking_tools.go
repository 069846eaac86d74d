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

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/client"
)

// OpenViking is the name of OpenViking's set of tools.
const OpenViking = "openviking"

// vikingTool is a tool with OpenViking's name, which uses the corresponding route below /api/v1.
func vikingTool(t tool, description string, schemas map[string]map[string]any, required ...string) tool {
	t.description, t.finder = description, "find"
	t.title = strings.ToUpper(t.name[:1]) + strings.ReplaceAll(t.name[1:], "_", " ")
	for _, argument := range slices.Sorted(maps.Keys(schemas)) {
		t.input = append(t.input, field{
			name: argument, schema: schemas[argument], description: vikingArguments[argument],
			required: slices.Contains(required, argument),
		})
	}
	return t
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
			"role": map[string]any{
				"type": "string", "enum": []string{"user", "assistant"}, "description": "Who said it.",
			},
			"content": map[string]any{"type": "string", "description": "What was said."},
		},
	}}
)

// vikingArguments describe the arguments by their names.
var vikingArguments = map[string]string{
	"query":            "What you want to know, in your own words.",
	"target_uri":       "Only below this viking:// URI, or these.",
	"limit":            "At most so many.",
	"min_score":        "Only hits that score at least this, of 0 to 1. Default: 0.35.",
	"level":            "Only these levels of detail: 0 abstracts, 1 overviews, 2 whole texts.",
	"session_id":       "The session in which it is asked.",
	"uris":             "A viking:// URI, or several.",
	"uri":              "A viking:// URI.",
	"offset":           "How many lines to skip. Default: 0.",
	"recursive":        "true: also what lies in the directories below.",
	"level_limit":      "At most so many levels below.",
	"node_limit":       "At most so many lines or files.",
	"messages":         "What was said, oldest first.",
	"content":          "The text of the file.",
	"mode":             "replace, append or create. Default: replace, or create if there is no file.",
	"wait":             "true: answer when searches can find it.",
	"path":             "A URL, or a file of the server below a directory that it allows.",
	"temp_file_id":     "The id of an upload, in place of path.",
	"description":      "Why it is added.",
	"to":               "The viking:// URI that it gets. Default: the server's choice.",
	"pattern":          "What to look for: a regular expression for grep, a pattern such as *.md for glob.",
	"case_insensitive": "true: capital and small letters are the same.",
}

func vikingTools() []tool {
	type schemas = map[string]map[string]any
	searched := schemas{"query": aText, "target_uri": aTexts, "limit": aNumber, "min_score": aScore, "level": someInts}
	inSession := maps.Clone(searched)
	inSession["session_id"] = aText
	return []tool{
		vikingTool(tool{name: "find", reads: true, do: vikingSearch("find")},
			"Find memories, resources and skills by what they mean.", searched, "query"),
		vikingTool(tool{name: "search", reads: true, do: vikingSearch("search")},
			"Find memories, resources and skills by what they mean, in the course of a session.", inSession, "query"),
		vikingTool(tool{name: "read", reads: true, do: vikingRead},
			"Read one file or several, by their viking:// URIs.", schemas{"uris": aTexts, "offset": aNumber}, "uris"),
		vikingTool(tool{name: "list", reads: true, do: vikingList("ls")},
			"List what lies in a viking:// directory.", schemas{"uri": aText, "recursive": aFlag}, "uri"),
		vikingTool(tool{name: "tree", reads: true, do: vikingList("tree")},
			"List what lies below a viking:// directory, level by level.",
			schemas{"uri": aText, "level_limit": aNumber, "node_limit": aNumber}, "uri"),
		vikingTool(tool{name: "remember", do: vikingRemember},
			"Keep what was said in long-term memory: the lessons in these messages are learned in the background.",
			schemas{"messages": messages}, "messages"),
		vikingTool(tool{name: "write", do: vikingWrite},
			"Write a text file at a viking:// URI. mode: replace, append or create.",
			schemas{"uri": aText, "content": aText, "mode": aText, "wait": aFlag}, "uri", "content"),
		vikingTool(tool{name: "add_resource", reaches: true, do: vikingAdd},
			"Add a file or a URL as a resource.",
			schemas{"path": aText, "temp_file_id": aText, "description": aText, "to": aText}),
		vikingTool(tool{name: "grep", reads: true, do: vikingGrep},
			"Find lines below a viking:// URI by a regular expression, or by several.", schemas{
				"uri": aText, "pattern": aTexts, "case_insensitive": aFlag, "node_limit": aNumber, "offset": aNumber,
			}, "uri", "pattern"),
		vikingTool(tool{name: "glob", reads: true, do: vikingGlob},
			"Find files below a viking:// URI by their names, such as *.md.",
			schemas{"pattern": aText, "uri": aText, "node_limit": aNumber}, "pattern"),
		vikingTool(tool{name: "forget", destroys: true, do: vikingForget},
			"Remove what lies at a viking:// URI from all answers, when the user asks for it. Its history stays.",
			schemas{"uri": aText, "recursive": aFlag}, "uri"),
		vikingTool(tool{name: "health", reads: true, do: status},
			"Whether the server answers, and as whom it knows the caller.", nil),
	}
}

func vikingSearch(route string) doTool {
	return func(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
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
				Copies   int     `json:"copies"`
			}
			_ = json.Unmarshal(found[kind[0]], &hits)
			for _, h := range hits {
				line := fmt.Sprintf("- [%s %.0f%%] %s\n    %s", kind[1], 100*h.Score, h.URI, oneLine(h.Abstract))
				if h.Copies > 0 {
					line += fmt.Sprintf(" (and %d more)", h.Copies)
				}
				lines = append(lines, line)
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

func vikingRead(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	all, room, offset := in.texts("uris"), mostTokens, in.number("offset", 0)
	contents := map[string]string{}
	var parts []string
	for _, uri := range all {
		var content string
		query := url.Values{"uri": {uri}, "offset": {fmt.Sprint(offset)}}
		if err := api.Viking(ctx, "GET", "content/read", query, nil, &content); err != nil {
			if len(all) == 1 {
				return nil, "", err
			}
			parts = append(parts, "=== "+uri+" ===\n"+reasonOf(err).Message)
			continue
		}
		if head, lines := headOf(content, room); head != content {
			content = head + fmt.Sprintf("\n[cut: an answer has at most %d tokens; read %s with offset %d goes on]",
				mostTokens, uri, offset+lines)
		}
		room = max(0, room-text.Tokens(content))
		contents[uri] = content
		if len(all) == 1 {
			parts = append(parts, content)
		} else {
			parts = append(parts, "=== "+uri+" ===\n"+content)
		}
	}
	return map[string]any{"contents": contents}, strings.Join(parts, "\n\n"), nil
}

func vikingList(route string) doTool {
	return func(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
		query := url.Values{"output": {"original"}}
		for name, value := range in {
			query.Set(name, cmp.Or(in.text(name), string(value)))
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

func vikingRemember(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	session := "mcp-" + strings.ToLower(rand.Text())
	if err := api.Viking(ctx, "POST", "sessions/"+session+"/messages/batch", nil, in, nil); err != nil {
		return nil, "", err
	}
	var done map[string]any
	err := api.Viking(ctx, "POST", "sessions/"+session+"/commit", nil, map[string]any{"trigger": "stated"}, &done)
	return done, "The messages are kept. What they teach is learned in the background.", err
}

func vikingWrite(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	var done map[string]any
	write := func(mode string) error {
		return api.Viking(ctx, "POST", "content/write", nil, in.but(nil, map[string]any{"mode": mode}), &done)
	}
	mode := cmp.Or(in.text("mode"), "replace")
	err := write(mode)
	if errors.Is(err, client.ErrNotFound) && in["mode"] == nil {
		err = write("create") // creates the file if it does not exist
	}
	return done, "Written: " + in.text("uri"), err
}

func vikingAdd(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	var done map[string]any
	err := api.Viking(ctx, "POST", "resources", nil, in.but(map[string]string{"description": "reason"}, nil), &done)
	return done, fmt.Sprintf("Added: %v", done["root_uri"]), err
}

func vikingGrep(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	type line struct {
		Line    int    `json:"line"`
		URI     string `json:"uri"`
		Content string `json:"content"`
		Pattern string `json:"pattern"`
	}
	all, more, offset, limit := []line{}, false, in.number("offset", 0), in.number("node_limit", 256)
	for _, pattern := range in.texts("pattern") {
		var found struct {
			Matches []line `json:"matches"`
			More    bool   `json:"more"`
		}
		wanted := map[string]any{"pattern": pattern, "node_limit": offset + limit - len(all)}
		if err := api.Viking(ctx, "POST", "search/grep", nil, in.but(nil, wanted), &found); err != nil {
			return nil, "", err
		}
		for _, m := range found.Matches {
			m.Pattern = pattern
			all = append(all, m)
		}
		more = more || found.More
	}
	all = all[min(offset, len(all)):]
	lines := make([]string, len(all))
	for i := range all {
		all[i].Content, _ = headOf(all[i].Content, mostTokens/10)
		lines[i] = fmt.Sprintf("%s:%d: %s", all[i].URI, all[i].Line, strings.TrimSpace(all[i].Content))
	}
	output, shown := headOf(cmp.Or(strings.Join(lines, "\n"), "No line matches."), mostTokens)
	shown = min(shown, len(all))
	if more = more || shown < len(all); more {
		output += fmt.Sprintf("\n[more lines match: narrow uri or pattern, or go on with offset %d]", offset+shown)
	}
	return map[string]any{"matches": all[:shown], "count": shown, "more": more}, output, nil
}

func vikingGlob(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	var found struct {
		Matches []string `json:"matches"`
		Count   int      `json:"count"`
	}
	err := api.Viking(ctx, "POST", "search/glob", nil, in, &found)
	return found, cmp.Or(strings.Join(found.Matches, "\n"), "No name matches."), err
}

func vikingForget(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
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
