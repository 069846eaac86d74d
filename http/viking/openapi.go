package viking

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/annals-kb/annals/http/serve"
)

// examplesJSON has one request of each route, and what a server answered. See cmd/annals,
// TestTheExamplesAreWhatAServerAnswers.
//
//go:embed examples.json
var examplesJSON []byte

type example struct {
	Name    string // the pattern of the route
	Summary string
	Request string // method, path and query
	Type    string // of the body; empty for JSON
	Body    any    // a string, if it is not JSON
	Status  int
	Answers string // the media type of the answer
	Answer  any
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// description answers with the OpenAPI description of these routes, rendered on the first request.
func description(version, public string) handler {
	document := sync.OnceValues(func() ([]byte, error) { return describe(version) })
	return func(_ context.Context, q *query) (any, error) {
		body, err := document()
		body = serve.WithAddress(body, public, q.request)
		return rawAnswer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: body}, err
	}
}

// tags say what routes are about, by the name below /api/v1.
var tags = [][2]string{
	{"admin", "Accounts, users and their keys."},
	{"content", "Read and write what lies at a URI."},
	{"debug", "How the server does, for its developers."},
	{"fs", "Directories and what lies in them."},
	{"observer", "How the parts of the server do."},
	{"relations", "Links between items."},
	{"resources", "Add files and addresses."},
	{"search", "Find by meaning, by words and by name."},
	{"sessions", "Record conversations and learn from them."},
	{"skills", "Keep and find skills."},
	{"stats", "Counts of what is kept."},
	{"system", "Whether the server answers, and is done."},
	{"tasks", "What works in the background."},
}

// tagOf is the tag of a path.
func tagOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/v1/"), "/")
	if name == "" { // such as /health
		return "system"
	}
	return name
}

// describe renders the description. Its schemas are the examples' own.
func describe(version string) ([]byte, error) {
	var all []example
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		return nil, fmt.Errorf("read examples.json: %w", err)
	}
	paths := map[string]map[string]any{}
	for _, e := range all {
		method, path, _ := strings.Cut(e.Name, " ")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(method)] = e.operation(path)
	}
	declared := make([]any, len(tags))
	for i, t := range tags {
		declared[i] = map[string]any{"name": t[0], "description": t[1]}
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0", "tags": declared, "servers": []any{map[string]any{"url": serve.AnyAddress}},
		"info": map[string]any{
			"title": "Annals: the OpenViking-compatible API", "version": version,
			"description": "For programs that were written for OpenViking. Annals' own API is described at /openapi.yaml.",
			"license":     map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"contact":     map[string]any{"name": "Annals", "url": "https://github.com/annals-kb/annals"},
		},
		"security": []any{map[string]any{"bearer": []string{}}, map[string]any{"key": []string{}}},
		"paths":    paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"bearer": map[string]any{"type": "http", "scheme": "bearer"},
			"key":    map[string]any{"type": "apiKey", "in": "header", "name": "X-API-Key"},
		}},
	})
}

func (e example) operation(path string) map[string]any {
	method, _, _ := strings.Cut(e.Name, " ")
	content := func(media string, value any) map[string]any {
		return map[string]any{media: map[string]any{"schema": schemaOf(value), "example": value}}
	}
	response := map[string]any{"description": http.StatusText(e.Status)}
	if e.Answers != "" {
		response["content"] = content(e.Answers, e.Answer)
	}
	refused := map[string]any{
		"description": "An error, with its code and message",
		"content": content("application/json", envelope{
			Status: "error", Error: &failure{Code: "INVALID_ARGUMENT", Message: "uri: is required"},
		}),
	}
	operation := map[string]any{
		"operationId": strings.ToLower(method) + strings.ReplaceAll(pathParameter.ReplaceAllString(path, "$1"), "/", "_"),
		"summary":     e.Summary, "x-example-request": e.Request, "tags": []string{tagOf(path)},
		"description": "Such as `" + e.Request + "`.",
		"responses":   map[string]any{strconv.Itoa(e.Status): response, "4XX": refused, "default": refused},
	}
	var parameters []any
	text := map[string]any{"type": "string"}
	for _, name := range pathParameter.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, map[string]any{"name": name[1], "in": "path", "required": true, "schema": text})
	}
	if at, err := url.Parse(e.Request[len(method)+1:]); err == nil {
		for name, values := range at.Query() {
			parameters = append(parameters, map[string]any{"name": name, "in": "query", "schema": text, "example": values[0]})
		}
	}
	if parameters != nil {
		operation["parameters"] = parameters
	}
	if e.Body != nil {
		media := cmp.Or(e.Type, "application/json")
		operation["requestBody"] = map[string]any{"content": content(media, e.Body)}
	}
	return operation
}

// schemaOf describes a JSON value by the fields that it has.
func schemaOf(value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		properties := map[string]any{}
		for name, inner := range v {
			properties[name] = schemaOf(inner)
		}
		return map[string]any{"type": "object", "properties": properties}
	case []any:
		if len(v) > 0 {
			return map[string]any{"type": "array", "items": schemaOf(v[0])}
		}
		return map[string]any{"type": "array", "items": map[string]any{}}
	case string:
		return map[string]any{"type": "string"}
	case float64:
		return map[string]any{"type": "number"}
	case bool:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{}
}
