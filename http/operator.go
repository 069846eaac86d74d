package http

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/annals-kb/annals/api"
)

// pages describe the API.
type pages struct {
	yaml, json, docs []byte
}

// render renders the description of the API. The server does it once, when somebody first asks for it.
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
	return p, nil
}

func (s *Server) operatorRoutes() {
	tags := []string{"Operation"}
	unwanted := &huma.Response{Ref: "#/components/responses/" + responseName(http.StatusUnprocessableEntity)}
	huma.Register(s.api, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: tags, Security: keyless(),
		Summary: "Tell whether the process is alive", Responses: map[string]*huma.Response{"422": unwanted},
	}, parameterless(s.healthy))
	huma.Register(s.api, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: tags, Security: keyless(),
		Summary: "Tell whether requests can be answered, and if not, why",
		Responses: map[string]*huma.Response{"422": unwanted, "503": {
			Description: "Not ready, with the reasons",
			Content:     bodies(s, true, map[string]any{jsonType: api.Readiness{}}).Content,
		}},
	}, parameterless(s.ready))
	s.page("metrics", "/metrics", "Metrics for Prometheus", "text/plain",
		echo.WrapHandler(promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{})))
	s.page("openapi-yaml", "/openapi.yaml", "This description", "application/yaml",
		s.described("application/yaml", func(p pages, _ *http.Request) []byte { return p.yaml }))
	s.page("openapi-json", "/openapi.json", "This description, as JSON", jsonType,
		s.described(jsonType, func(p pages, _ *http.Request) []byte { return p.json }))
	s.page("docs", "/docs", "This description, for people", "text/html",
		s.described("text/html; charset=utf-8", func(p pages, r *http.Request) []byte { return docsAt(p.docs, r) }))
	s.page("root", "/", "Where to go from here", jsonType, s.root)
	s.api.OpenAPI().Paths["/"].Get.Responses["302"] = &huma.Response{Description: "A browser: to /docs"}
}

// page registers a route that is not about knowledge, and asks for no key.
func (s *Server) page(id, path, summary, contentType string, handler echo.HandlerFunc) {
	s.api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"Operation"}, Security: keyless(),
		Responses: map[string]*huma.Response{"200": {
			Description: http.StatusText(http.StatusOK),
			Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{}}},
		}},
	})
	s.echo.GET(path, handler)
}

// described answers with a page of the description.
func (s *Server) described(contentType string, page func(pages, *http.Request) []byte) echo.HandlerFunc {
	return func(e echo.Context) error {
		p, err := s.pages()
		if err != nil {
			return err
		}
		return e.Blob(http.StatusOK, contentType, page(p, e.Request()))
	}
}

func (s *Server) root(e echo.Context) error {
	if strings.Contains(e.Request().Header.Get("Accept"), "text/html") {
		return e.Redirect(http.StatusFound, "/docs")
	}
	return e.JSON(http.StatusOK, api.Welcome{Name: "annals", Version: s.cfg.Version, Docs: "/docs", OpenAPI: "/openapi.yaml"})
}
