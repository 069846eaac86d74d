package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// description is /openapi.yaml as another implementation of OpenAPI understands it.
type description struct {
	doc   *openapi3.T
	paths map[string]*regexp.Regexp
}

// descriptions holds each document that a server described itself by, parsed once.
var descriptions = struct {
	sync.Mutex
	byText map[string]*description
}{byText: map[string]*description{}}

func describedBy(t *testing.T, w *world) *description {
	t.Helper()
	text := string(w.ask("GET", "/openapi.yaml", nil).want(http.StatusOK).body)
	descriptions.Lock()
	defer descriptions.Unlock()
	if d := descriptions.byText[text]; d != nil {
		return d
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatalf("load openapi.yaml: %v", err)
	}
	if err := doc.Validate(context.WithoutCancel(t.Context())); err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	d := &description{doc: doc, paths: map[string]*regexp.Regexp{}}
	for path := range doc.Paths.Map() {
		pattern := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, `[^/]+`)
		d.paths[path] = regexp.MustCompile("^" + pattern + "$")
	}
	descriptions.byText[text] = d
	return d
}

// hold fails the test if the answer is not one that the description announces.
func (d *description) hold(t *testing.T, request *http.Request, a *answer) {
	t.Helper()
	operation := d.operation(request)
	if operation == nil {
		if a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, though there is no such operation", a.what, a.status)
		}
		return
	}
	response := operation.Responses.Status(a.status)
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
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Errorf("%s: %v", a.what, err)
			return
		}
		if err := content.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse()); err != nil {
			t.Errorf("%s: %d is not as announced: %v\n%.2000s", a.what, a.status, err, a.body)
			return
		}
	}
}

// operation finds what the description says of a request.
func (d *description) operation(request *http.Request) *openapi3.Operation {
	method := strings.Replace(request.Method, http.MethodHead, http.MethodGet, 1)
	if item := d.doc.Paths.Value(request.URL.Path); item != nil && item.GetOperation(method) != nil {
		return item.GetOperation(method)
	}
	for path, pattern := range d.paths {
		if pattern.MatchString(request.URL.Path) {
			return d.doc.Paths.Value(path).GetOperation(method)
		}
	}
	return nil
}
