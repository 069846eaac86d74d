package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// description is /openapi.json as other implementations of OpenAPI and of JSON Schema understand it.
type description struct {
	doc      *openapi3.T
	paths    map[string]*regexp.Regexp
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by their place in the document
}

// shared is the description that every server of these tests gives of itself. Rendering it, and compiling its schemas, takes
// longer than most tests.
var shared struct {
	sync.Mutex
	description *description
}

func describedBy(t *testing.T, w *world) *description {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.description != nil {
		return shared.description
	}
	content := w.ask("GET", "/openapi.json", nil).want(http.StatusOK).body
	doc, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		t.Fatalf("load openapi.json: %v", err)
	}
	if err := doc.Validate(context.WithoutCancel(t.Context())); err != nil {
		t.Fatalf("openapi.json: %v", err)
	}
	d := &description{
		doc: doc, paths: map[string]*regexp.Regexp{}, schemas: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler(),
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err == nil {
		err = d.compiler.AddResource(documentURL, resource)
	}
	if err != nil {
		t.Fatalf("openapi.json: %v", err)
	}
	for path := range doc.Paths.Map() {
		pattern := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, `[^/]+`)
		d.paths[path] = regexp.MustCompile("^" + pattern + "$")
	}
	shared.description = d
	return d
}

const documentURL = "http://annals.invalid/openapi.json"

// escaped is a name as a part of a JSON pointer in a URL.
func escaped(name string) string {
	return url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
}

// schema is the compiled schema at a place in the document. Each is compiled once.
func (d *description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + pointer)
	if err == nil {
		d.schemas[pointer] = s
	}
	return s, err
}

// hold fails the test if the answer is not one that the description announces.
func (d *description) hold(t *testing.T, request *http.Request, a *answer) {
	t.Helper()
	path, method := d.operation(request)
	if path == "" {
		if a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, though there is no such operation", a.what, a.status)
		}
		return
	}
	response := d.doc.Paths.Value(path).GetOperation(method).Responses.Status(a.status)
	if response == nil {
		t.Errorf("%s: %d is not announced\n%.500s", a.what, a.status, a.body)
		return
	}
	if len(a.body) == 0 {
		return
	}
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	content := response.Value.Content.Get(media)
	if content == nil {
		t.Errorf("%s: %d as %s is not announced", a.what, a.status, media)
		return
	}
	if content.Schema == nil || !strings.HasSuffix(media, "json") {
		return
	}
	pointer := response.Ref
	if pointer == "" {
		pointer = fmt.Sprintf("#/paths/%s/%s/responses/%d", escaped(path), strings.ToLower(method), a.status)
	}
	schema, err := d.schema(pointer + "/content/" + escaped(media) + "/schema")
	if err != nil {
		t.Errorf("%s: %v", a.what, err)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Errorf("%s: %v", a.what, err)
			return
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %d is not as announced: %v\n%.2000s", a.what, a.status, err, a.body)
			return
		}
	}
}

// operation finds what the description says of a request; an empty path for nothing.
func (d *description) operation(request *http.Request) (path, method string) {
	method = strings.Replace(request.Method, http.MethodHead, http.MethodGet, 1)
	if item := d.doc.Paths.Value(request.URL.Path); item != nil && item.GetOperation(method) != nil {
		return request.URL.Path, method
	}
	for path, pattern := range d.paths {
		if pattern.MatchString(request.URL.Path) && d.doc.Paths.Value(path).GetOperation(method) != nil {
			return path, method
		}
	}
	return "", method
}
