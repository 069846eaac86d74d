package mcp

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Room describes what the MCP server answers at /mcp.
type Room struct{}

// Routes describes the operation, which a mount answers.
func (Room) Routes(a *serve.API, _ visible.Events) {
	message := map[string]*huma.MediaType{
		serve.JSONType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
	}
	a.Huma.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "mcp", Method: http.MethodPost, Path: "/mcp", Tags: []string{"Operation"},
		Summary: "Call the MCP server",
		Description: "A message of the Model Context Protocol (JSON-RPC 2.0), with Accept: application/json, " +
			"text/event-stream. docs/agents.md describes the tools.",
		RequestBody: &huma.RequestBody{Required: true, Content: message},
		Responses: map[string]*huma.Response{
			"200": {Description: "The answer to the message", Content: map[string]*huma.MediaType{
				serve.JSONType: {Schema: message[serve.JSONType].Schema},
			}},
			"202": {Description: "Accepted: a notification has no answer"},
			"401": {Ref: "#/components/responses/" + serve.ResponseName(http.StatusUnauthorized)},
		},
	})
}
