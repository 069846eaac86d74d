package servertest

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

// Description is /openapi.json as other implementations of OpenAPI and of JSON Schema understand it.
type Description struct {
	Doc      *openapi3.T
	paths    map[string]*regexp.Regexp
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by their place in the document
}

// described is the description that every server of these tests gives of itself. Rendering it, and compiling its
// schemas, takes longer than most tests.
var described struct {
	sync.Mutex
	description *Description
}

// Description is that of the server.
func (w *World) Description() *Description {
	t := w.T
	t.Helper()
	described.Lock()
	defer described.Unlock()
	if described.description != nil {
		return described.description
	}
	content := w.Ask("GET", "/openapi.json", nil).Want(http.StatusOK).Body
	doc, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		t.Fatalf("load openapi.json: %v", err)
	}
	if err := doc.Validate(context.WithoutCancel(t.Context())); err != nil {
		t.Fatalf("openapi.json: %v", err)
	}
	d := &Description{
		Doc: doc, paths: map[string]*regexp.Regexp{}, schemas: map[string]*jsonschema.Schema{},
		compiler: jsonschema.NewCompiler(),
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
	described.description = d
	return d
}

const documentURL = "http://annals.invalid/openapi.json"

// escaped is a name as a part of a JSON pointer in a URL.
func escaped(name string) string {
	return url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
}

// schema is the compiled schema at a place in the document. Each is compiled once.
func (d *Description) schema(pointer string) (*jsonschema.Schema, error) {
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
func (d *Description) hold(t *testing.T, request *http.Request, a *Answer) {
	t.Helper()
	path, method := d.operation(request)
	if path == "" {
		moved := a.Status == http.StatusPermanentRedirect
		if !moved && a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, though there is no such operation", a.What, a.Status)
		}
		return
	}
	response := d.Doc.Paths.Value(path).GetOperation(method).Responses.Status(a.Status)
	if response == nil {
		t.Errorf("%s: %d is not announced\n%.500s", a.What, a.Status, a.Body)
		return
	}
	if len(a.Body) == 0 {
		return
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	content := response.Value.Content.Get(media)
	if content == nil {
		t.Errorf("%s: %d as %s is not announced", a.What, a.Status, media)
		return
	}
	if content.Schema == nil || !strings.HasSuffix(media, "json") {
		return
	}
	pointer := response.Ref
	if pointer == "" {
		pointer = fmt.Sprintf("#/paths/%s/%s/responses/%d", escaped(path), strings.ToLower(method), a.Status)
	}
	schema, err := d.schema(pointer + "/content/" + escaped(media) + "/schema")
	if err != nil {
		t.Errorf("%s: %v", a.What, err)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Errorf("%s: %v", a.What, err)
			return
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %d is not as announced: %v\n%.2000s", a.What, a.Status, err, a.Body)
			return
		}
	}
}

// operation finds what the description says of a request; an empty path for nothing.
func (d *Description) operation(request *http.Request) (path, method string) {
	method = strings.Replace(request.Method, http.MethodHead, http.MethodGet, 1)
	if item := d.Doc.Paths.Value(request.URL.Path); item != nil && item.GetOperation(method) != nil {
		return request.URL.Path, method
	}
	for path, pattern := range d.paths {
		if pattern.MatchString(request.URL.Path) && d.Doc.Paths.Value(path).GetOperation(method) != nil {
			return path, method
		}
	}
	return "", method
}
