package http

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// description is the API's description before any route is registered.
func description(version string) *huma.OpenAPI {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for shape, form := range body.Forms {
		schemas.RegisterTypeAlias(shape, form)
	}
	components := &huma.Components{
		Schemas: schemas, Parameters: headers(), Responses: map[string]*huma.Response{}, SecuritySchemes: securitySchemes(),
	}
	for _, a := range append(slices.Clone(serve.Answers), serve.Unexpected) {
		response := &huma.Response{
			Description: http.StatusText(a.Status),
			Content: map[string]*huma.MediaType{
				serve.ProblemType: {Schema: schemas.Schema(reflect.TypeFor[api.Problem](), true, "")},
			},
		}
		if a.RetryAfter != "" {
			response.Headers = map[string]*huma.Param{"Retry-After": {
				Schema: &huma.Schema{Type: huma.TypeInteger, Description: "Seconds after which it may help to ask again."},
			}}
		}
		components.Responses[serve.ResponseName(a.Status)] = response
	}
	delete(components.Responses, serve.ResponseName(serve.StatusClientClosed))
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Annals", Version: version,
			Description: "The memory that an organisation's people and AI agents share, and the record of how it came to be. " +
				"MCP hosts use it at /mcp (docs/agents.md), and what was written for OpenViking at /api/v1 (docs/openviking.md).",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			Contact: &huma.Contact{Name: "Annals", URL: "https://github.com/annals-kb/annals"},
		},
		Tags: []*huma.Tag{
			{Name: "Knowledge", Description: "Remember, read, revise and forget."},
			{Name: "Learning from use", Description: "What was of use, what did harm, what no longer holds."},
			{Name: "Questions", Description: "What is known, and what happened."},
			{Name: "Sessions", Description: "Record conversations and learn from them."},
			{Name: "Reports", Description: "Who did what, what stands out, and who used it."},
			{Name: "Erasing", Description: "Destroy what people wrote, for good; and keep it from being destroyed."},
			{Name: "Proof", Description: "Show that the log was only appended to."},
			{Name: "Access", Description: "Who may call."},
			{Name: "Operation", Description: "How the server does."},
		},
		Components: components,
		Servers:    []*huma.Server{{URL: serve.AnyAddress}},
		Security:   []map[string][]string{{"bearer": {}}, {"key": {}}},
	}
}

// securitySchemes are the two ways in which a key is sent.
func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		"bearer": {
			Type: "http", Scheme: "bearer",
			Description: "A key, which annals key create or POST /v1/keys gives, or a token of the issuer that the server " +
				"believes. None is needed in no-auth mode: until the first key is issued, if there is no root key and no issuer. " +
				"Then the server should be reachable from its own machine only.",
		},
		"key": {
			Type: "apiKey", In: "header", Name: "X-API-Key",
			Description: "The same, for clients that send no Authorization.",
		},
	}
}

// headers are the request headers that operations share.
func headers() map[string]*huma.Param {
	all := map[string]*huma.Param{}
	for name, doc := range map[string]string{
		"Annals-Actor":          "In no-auth mode: who you are, an entity such as user:123. Default: user:default.",
		"Annals-Tenant":         "For root: the tenant to act in. Default: default.",
		"Annals-On-Behalf-Of":   "For whom you act: an entity such as user:123.",
		"Annals-Correlation-Id": "Recorded with the events: what belongs together.",
		"Annals-Causation-Id":   "Recorded with the events: what caused this.",
		"Annals-Host":           "The program that asks, such as claude-code/2.0, for receipts. Default: from User-Agent.",
		"Annals-Session":        "The conversation in which it asks, for receipts.",
		"X-Request-Id":          "Recorded, logged and given back; made if left out.",
		"traceparent":           "Recorded with the events (W3C Trace Context).",
		"Idempotency-Key":       "A request repeated with the same key happens once and is answered as the first time.",
		"Annals-Redaction":      "refuse: if something would be taken out of the texts, nothing is recorded.",
		"Last-Event-ID":         "For a stream: the id of the event that came last; what follows it comes next.",
		"If-Match":              `The revision that you read, such as "3": the change happens only to that one.`,
	} {
		all[name] = &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return all
}

// remembered documents the answers to one item, new or not, and to many.
func remembered(a *serve.API) map[string]*huma.Response {
	schemas := a.Huma.OpenAPI().Components.Schemas
	item := &huma.MediaType{Schema: schemas.Schema(reflect.TypeFor[api.Knowledge](), true, "")}
	line := &huma.MediaType{Schema: schemas.Schema(reflect.TypeFor[api.BulkAnswer](), true, "")}
	return map[string]*huma.Response{
		"201": {
			Description: "Remembered", Headers: serve.ResponseHeaders(reflect.TypeFor[serve.Reply](), "Location"),
			Content: map[string]*huma.MediaType{serve.JSONType: item},
		},
		"200": {
			Description: "With update=true: revised, or unchanged. Or many: one line each, in order",
			Headers:     serve.ResponseHeaders(reflect.TypeFor[serve.Reply]()),
			Content:     map[string]*huma.MediaType{serve.JSONType: item, serve.LinesType: line},
		},
	}
}

// tidy corrects assumptions of huma: that arrays may be null, and that null is not among the values of an
// enumeration. It also drops huma's own form of errors, which is never used.
func tidy(api *huma.OpenAPI) {
	schemas := api.Components.Schemas.Map()
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for _, schema := range schemas {
		tidySchema(schema)
	}
	for _, item := range api.Paths {
		for _, op := range serve.OperationsOf(item) {
			delete(op.Responses, "default")
			for _, p := range op.Parameters {
				tidyParameter(p)
			}
		}
	}
}

// tidyParameter drops redundant documentation.
func tidyParameter(p *huma.Param) {
	if p.Schema == nil {
		return
	}
	tidySchema(p.Schema)
	p.Schema.Description = ""
	if p.Schema.Type != huma.TypeArray {
		p.Explode = nil
	}
}

func tidySchema(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(s.Enum, nil)
	}
	tidySchema(s.Items)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		tidySchema(more)
	}
	for _, property := range s.Properties {
		tidySchema(property)
	}
	for _, alternative := range s.OneOf {
		tidySchema(alternative)
	}
}

// examplesJSON has one request of each operation, and what a server answered.
//
//go:embed examples.json
var examplesJSON []byte

type example struct {
	Name    string          // the operation's id
	Request string          // method and path
	Type    string          // of the body; empty for JSON
	Body    json.RawMessage // a string, if it is not JSON
	Status  int
	Answers string // the media type of the answer
	Answer  json.RawMessage
}

// exemplify adds the examples to the operations that they are about.
func exemplify(api *huma.OpenAPI) error {
	var all []example
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		return fmt.Errorf("read examples.json: %w", err)
	}
	byName := map[string]example{}
	for _, e := range all {
		byName[e.Name] = e
	}
	for _, item := range api.Paths {
		for _, op := range serve.OperationsOf(item) {
			e, is := byName[op.OperationID]
			if !is {
				continue
			}
			if op.Extensions == nil {
				op.Extensions = map[string]any{}
			}
			op.Extensions["x-example-request"] = e.Request
			if op.RequestBody != nil && len(e.Body) > 0 {
				if content := op.RequestBody.Content[cmp.Or(e.Type, serve.JSONType)]; content != nil {
					content.Example = decoded(e.Body)
				}
			}
			status := strconv.Itoa(e.Status)
			response := op.Responses[status]
			if response != nil && response.Ref != "" { // a problem, whose description many operations share
				shared := api.Components.Responses[serve.ResponseName(e.Status)]
				response = &huma.Response{
					Description: shared.Description, Headers: shared.Headers,
					Content: map[string]*huma.MediaType{serve.ProblemType: {Schema: shared.Content[serve.ProblemType].Schema}},
				}
				op.Responses[status] = response
			}
			if response != nil && response.Content[e.Answers] != nil {
				response.Content[e.Answers].Example = decoded(e.Answer)
			}
		}
	}
	return nil
}

func decoded(raw json.RawMessage) (value any) {
	_ = json.Unmarshal(raw, &value) // examples.json was decoded before
	return value
}
