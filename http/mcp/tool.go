package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/client"
)

// tool is a tool for models.
type tool struct {
	name        string
	title       string
	description string
	input       []field
	reads       bool // changes nothing
	destroys    bool
	reaches     bool     // has effects outside of this memory
	finder      string   // the tool that lists what exists; default: retrieve_memory
	aliases     []string // names of the tool on other servers
	alias       bool     // is an alias, whose clients read the text as JSON
	do          doTool
}

// doTool runs a tool. It returns data for a program and text for a model.
type doTool func(context.Context, *client.Client, arguments) (data any, text string, err error)

// field is an argument of a tool.
type field struct {
	name        string
	kind        string // string, integer, strings, object, item, id
	description string
	required    bool
	values      []string
	most        int            // of an integer, which is at least 1
	schema      map[string]any // replaces the kind of an argument that the API checks
}

// schema is flat, since many models cannot use references and alternatives.
func (t tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range t.input {
		property := map[string]any{"type": f.kind, "description": f.description}
		switch {
		case f.schema != nil:
			property = maps.Clone(f.schema)
			property["description"] = f.description
		case f.kind == item || f.kind == id:
			property["type"] = "string"
		case f.kind == "strings":
			property["type"], property["items"] = "array", map[string]any{"type": "string"}
		case f.kind == "integer":
			property["minimum"], property["maximum"] = 1, f.most
		case len(f.values) > 0:
			property["enum"] = f.values
		}
		properties[f.name] = property
		if f.required {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

var resultSchema = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"status":   map[string]any{"type": "string", "enum": []string{"ok", "error"}, "description": "Whether it was done."},
		"data":     map[string]any{"type": "object", "description": "What was asked for, if the status is ok."},
		"redacted": map[string]any{"type": "string", "description": "What was removed before it was stored."},
		"receipt":  map[string]any{"type": "string", "description": "The id of the receipt of what was read."},
		"message":  map[string]any{"type": "string", "description": "What went wrong, if it is not."},
		"error":    map[string]any{"type": "object", "description": "The same with a code."},
	},
	"required": []string{"status"},
}

func (s *Server) add(server *sdk.Server, t tool) {
	server.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema(), OutputSchema: resultSchema,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.reads, IdempotentHint: t.reads, DestructiveHint: &t.destroys,
			OpenWorldHint: &t.reaches,
		},
	}, func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in, err := t.read(call.Params.Arguments)
		if err != nil {
			return t.failed(err), nil
		}
		removed := ""
		ctx = client.OnRedacted(ctx, func(what string) { removed = strings.Trim(removed+","+what, ",") })
		var receipts []string
		ctx = client.OnReceipt(ctx, func(id string) { receipts = append(receipts, id) })
		data, text, err := t.do(s.cfg.Work.within(withCalledAt(ctx, call.Extra)), s.api(call), in)
		if t.finder != "" && errors.Is(err, client.ErrNotFound) {
			err = errorWithFix{err, t.finder + " shows the uri of whatever there is"}
		}
		if err != nil {
			return t.failed(err), nil
		}
		if removed != "" {
			text += "; removed before it was stored: " + removed
		}
		receipt := strings.Join(receipts, ",")
		result := t.result(success{Status: "ok", Data: data, Redacted: removed, Receipt: receipt}, text, false)
		if receipt != "" && !t.alias { // some hosts show their model the text alone
			result.Content = append(result.Content, &sdk.TextContent{Text: "receipt: " + receipt})
		}
		return result, nil
	})
}

// success and failure are the forms of a result.
type success struct {
	Status string `json:"status"`
	Data   any    `json:"data"`

	Redacted string `json:"redacted,omitempty"` // what scrubbing removed from the texts, by class
	Receipt  string `json:"receipt,omitempty"`  // the ids of the receipts of the answers, with commas
}

type failure struct {
	Status  string `json:"status"`
	Error   reason `json:"error"`
	Message string `json:"message"`
}

type reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (t tool) failed(err error) *sdk.CallToolResult {
	why := reasonOf(err)
	return t.result(failure{Status: "error", Error: why, Message: why.Message}, why.Code+": "+why.Message, true)
}

func (t tool) result(content any, text string, failed bool) *sdk.CallToolResult {
	if t.alias {
		var written strings.Builder
		encoder := json.NewEncoder(&written)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(content) == nil { // it is made of strings and numbers
			text = strings.TrimSpace(written.String())
		}
	}
	return &sdk.CallToolResult{
		StructuredContent: content, Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: failed,
	}
}
