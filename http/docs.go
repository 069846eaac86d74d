package http

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

//go:embed docs.html
var docsPage string

// docs is the content of the page /docs: the description of the API in reading order.
type docs struct {
	Info     *huma.Info
	Address  string // to be replaced by the server's, see [serve.WithAddress]
	Sections []docsSection
	Schemas  []docsSchema
	Problems []docsProblem
}

type docsSection struct {
	Name, Doc  string
	Operations []docsOperation
}

type docsOperation struct {
	*huma.Operation
	Inputs  []docsField
	Bodies  []docsType
	Answers []docsAnswer
	Keyless bool
}

// docsType is a type as a word, linked to its table if it has one.
type docsType struct {
	Before, Name, After string
	Linked              bool
}

type docsField struct {
	Name, In, Doc string
	Type          docsType
	Required      bool
}

type docsAnswer struct {
	Status, Doc string
	Types       []docsType
	Headers     []docsField
}

type docsSchema struct {
	Name   string
	Fields []docsField
}

type docsProblem struct {
	Status                int
	Code, Title, Standard string
}

// renderDocs renders the page /docs, which needs no script and no network.
func renderDocs(api *huma.OpenAPI) ([]byte, error) {
	page, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, err
	}
	view := docs{Info: api.Info, Address: serve.AnyAddress}
	for _, tag := range api.Tags {
		section := docsSection{Name: tag.Name, Doc: tag.Description}
		for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
			for _, op := range serve.OperationsOf(api.Paths[path]) {
				if slices.Contains(op.Tags, tag.Name) {
					section.Operations = append(section.Operations, docsOperationOf(api, op))
				}
			}
		}
		view.Sections = append(view.Sections, section)
	}
	schemas := api.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		view.Schemas = append(view.Schemas, docsSchema{Name: name, Fields: docsFields(schemas[name])})
	}
	for _, a := range append(slices.Clone(serve.Answers), serve.Unexpected) {
		if a.Status != serve.StatusClientClosed {
			view.Problems = append(view.Problems, docsProblem{
				Status: a.Status, Code: a.Code, Title: a.Title, Standard: http.StatusText(a.Status),
			})
		}
	}
	var out bytes.Buffer
	err = page.Execute(&out, view)
	return out.Bytes(), err
}

// docsPolicy is the content security policy of the page: it allows the page's own style.
func docsPolicy(page []byte) string {
	_, style, _ := bytes.Cut(page, []byte("<style>"))
	style, _, _ = bytes.Cut(style, []byte("</style>"))
	hash := sha256.Sum256(style)
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; frame-ancestors 'none'"
}

func docsOperationOf(api *huma.OpenAPI, op *huma.Operation) docsOperation {
	view := docsOperation{Operation: op, Keyless: op.Security != nil && len(op.Security) == 0}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = api.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
		}
		view.Inputs = append(view.Inputs, docsField{
			Name: p.Name, In: p.In, Type: docsTypeOf(p.Schema), Doc: docsDoc(p.Description, p.Schema), Required: p.Required,
		})
	}
	if op.RequestBody != nil {
		for _, format := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
			t := docsTypeOf(op.RequestBody.Content[format].Schema)
			t.Before += format + ": "
			view.Bodies = append(view.Bodies, t)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		if response.Ref != "" {
			continue
		}
		answer := docsAnswer{Status: status, Doc: response.Description}
		for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
			header := response.Headers[name].Schema
			answer.Headers = append(
				answer.Headers, docsField{Name: name, Type: docsTypeOf(header), Doc: docsDoc(header.Description, header)},
			)
		}
		for _, format := range slices.Sorted(maps.Keys(response.Content)) {
			if t := docsTypeOf(response.Content[format].Schema); t.Linked {
				answer.Types = append(answer.Types, t)
			}
		}
		view.Answers = append(view.Answers, answer)
	}
	return view
}

func docsFields(s *huma.Schema) []docsField {
	var fields []docsField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		fields = append(fields, docsField{
			Name: name, Type: docsTypeOf(property), Doc: docsDoc(property.Description, property),
			Required: slices.Contains(s.Required, name),
		})
	}
	return fields
}

// docsTypeOf describes a schema in a word or two.
func docsTypeOf(s *huma.Schema) docsType {
	switch {
	case s == nil:
		return docsType{Name: "anything"}
	case s.Ref != "":
		return docsType{Name: s.Ref[strings.LastIndexByte(s.Ref, '/')+1:], Linked: true}
	case len(s.OneOf) > 0:
		t, other := docsTypeOf(s.OneOf[0]), s.OneOf[1]
		switch {
		case other.Type != huma.TypeArray:
			t.After += " or " + docsTypeOf(other).Name
		case s.OneOf[0].Type == huma.TypeObject:
			t.After += ", or strings"
		default:
			t.After += ", or several"
		}
		return t
	case s.Type == huma.TypeArray:
		t := docsTypeOf(s.Items)
		t.After += "[]"
		return t
	case s.Type == "":
		return docsType{Name: "anything"}
	}
	return docsType{Name: s.Type}
}

// docsDoc is a field's description with its allowed values and limits.
func docsDoc(doc string, s *huma.Schema) string {
	parts := []string{doc}
	words := s
	if s != nil && s.Type == huma.TypeArray {
		words = s.Items
	}
	if words != nil && len(words.Enum) > 0 {
		var all []string
		for _, word := range words.Enum {
			if word != nil {
				all = append(all, fmt.Sprint(word))
			}
		}
		parts = append(parts, "One of "+strings.Join(all, ", ")+".")
	}
	if s != nil && s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("At most %d characters.", *s.MaxLength))
	}
	if s != nil && s.ReadOnly {
		parts = append(parts, "Read-only: ignored when sent.")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// pages describe the API.
type pages struct {
	yaml, json, docs []byte
	docsPolicy       string
}

// render renders the description of the API. The server calls it once, for the first request that needs it.
func render(api *huma.OpenAPI) (p pages, err error) {
	if err := exemplify(api); err != nil {
		return p, err
	}
	if p.yaml, err = api.YAML(); err != nil {
		return p, fmt.Errorf("render openapi.yaml: %w", err)
	}
	if p.json, err = api.MarshalJSON(); err != nil {
		return p, fmt.Errorf("render openapi.json: %w", err)
	}
	if p.docs, err = renderDocs(api); err != nil {
		return p, fmt.Errorf("render docs: %w", err)
	}
	p.docsPolicy = docsPolicy(p.docs)
	return p, nil
}

//go:embed llms.txt
var llms string

func (s *Server) pageRoutes() {
	s.page("metrics", "/metrics", "Metrics for Prometheus, with the names that the caller may read",
		"Without a key, metrics with the name of a tenant or a scope are left out.", "text/plain", s.answerMetrics)
	s.page("openapi-yaml", "/openapi.yaml", "This description", "In OpenAPI 3.1.", "application/yaml",
		s.described("application/yaml", func(p pages) []byte { return p.yaml }))
	s.page("openapi-json", "/openapi.json", "This description, as JSON", "In OpenAPI 3.1.", serve.JSONType,
		s.described(serve.JSONType, func(p pages) []byte { return p.json }))
	for _, path := range []string{"/openapi.json", "/openapi.yaml"} { // where other servers have theirs
		s.echo.GET("/v1"+path, func(e echo.Context) error { return e.Redirect(http.StatusPermanentRedirect, path) })
	}
	s.page("llms", "/llms.txt", "What this server is, for language models", "With the requests that they need most.",
		"text/plain", func(e echo.Context) error {
			return e.String(http.StatusOK, strings.ReplaceAll(llms, "](/", "]("+s.cfg.PublicURL+"/"))
		})
	s.page("docs", "/docs", "This description, for people", "A page of HTML without scripts.", "text/html", s.docs)
	s.page("root", "/", "Where to go from here",
		"The version of the server, and the addresses of its descriptions.", serve.JSONType, s.root)
	root := s.api.Huma.OpenAPI().Paths["/"].Get
	root.Responses["303"] = &huma.Response{Description: "A browser: to the console or to /docs"}
}

// answerMetrics answers with the metrics that name no tenant, and with those of scopes that the caller may read.
func (s *Server) answerMetrics(c echo.Context) error {
	by, err := s.api.Authenticate(c.Request())
	hidden := func(m *dto.Metric) bool {
		label := map[string]string{}
		for _, l := range m.GetLabel() {
			label[l.GetName()] = l.GetValue()
		}
		tenant, named := label["tenant"]
		return named && (err != nil ||
			!by.IsOperator() && (tenant != by.Tenant || !by.ActsFor(domain.Scope(label["scope"]).Entity())))
	}
	visible := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := s.cfg.Registry.Gather()
		return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
			f.Metric = slices.DeleteFunc(f.GetMetric(), hidden)
			return len(f.GetMetric()) == 0
		}), err
	})
	promhttp.HandlerFor(visible, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// page registers a route that needs no key and is not about knowledge.
func (s *Server) page(id, path, summary, doc, contentType string, handler echo.HandlerFunc) {
	s.api.Huma.OpenAPI().AddOperation(&huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Description: doc,
		Tags: []string{"Operation"}, Security: []map[string][]string{},
		Responses: map[string]*huma.Response{
			"200": {
				Description: http.StatusText(http.StatusOK),
				Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{}}},
			},
			"405": {Ref: "#/components/responses/" + serve.ResponseName(http.StatusMethodNotAllowed)},
		},
	})
	s.echo.GET(path, handler)
}

// described answers with a page of the description.
func (s *Server) described(contentType string, page func(pages) []byte) echo.HandlerFunc {
	return func(e echo.Context) error {
		p, err := s.pages()
		if err != nil {
			return err
		}
		return e.Blob(http.StatusOK, contentType, serve.WithAddress(page(p), s.cfg.PublicURL, e.Request()))
	}
}

// docs answers with the description for people.
func (s *Server) docs(e echo.Context) error {
	p, err := s.pages()
	if err != nil {
		return err
	}
	e.Response().Header().Set("Content-Security-Policy", p.docsPolicy)
	return e.Blob(http.StatusOK, "text/html; charset=utf-8", serve.WithAddress(p.docs, s.cfg.PublicURL, e.Request()))
}

func (s *Server) root(e echo.Context) error {
	if strings.Contains(e.Request().Header.Get("Accept"), "text/html") {
		return e.Redirect(http.StatusSeeOther, s.cfg.Home)
	}
	return e.JSON(http.StatusOK, api.Welcome{
		Name: "annals", Version: s.cfg.Version,
		Docs: s.cfg.PublicURL + "/docs", OpenAPI: s.cfg.PublicURL + "/openapi.yaml",
	})
}
