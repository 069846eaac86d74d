package http

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// pages are rendered once: the API does not change while the server runs.
type pages struct {
	yaml, json, docs []byte
}

// describe renders the description of the API, once all routes are known.
func (s *Server) describe() (err error) {
	api := s.api.OpenAPI()
	describeMCP(api)
	tidy(api)
	if err := exemplify(api); err != nil {
		return err
	}
	if s.pages.yaml, err = api.YAML(); err != nil {
		return fmt.Errorf("render openapi.yaml: %w", err)
	}
	if s.pages.json, err = api.MarshalJSON(); err != nil {
		return fmt.Errorf("render openapi.json: %w", err)
	}
	if s.pages.docs, err = renderDocs(api); err != nil {
		return fmt.Errorf("render docs: %w", err)
	}
	return nil
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
			Content:     bodies(s, true, map[string]any{jsonType: readiness{}}).Content,
		}},
	}, parameterless(s.ready))
	s.page("metrics", "/metrics", "Metrics for Prometheus", "text/plain",
		echo.WrapHandler(promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{})))
	s.page("openapi-yaml", "/openapi.yaml", "This description", "application/yaml",
		blob("application/yaml", func() []byte { return s.pages.yaml }))
	s.page("openapi-json", "/openapi.json", "This description, as JSON", jsonType,
		blob(jsonType, func() []byte { return s.pages.json }))
	s.page("docs", "/docs", "This description, for people", "text/html",
		func(e echo.Context) error {
			return e.Blob(http.StatusOK, "text/html; charset=utf-8", docsAt(s.pages.docs, e.Request()))
		})
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

func blob(contentType string, content func() []byte) echo.HandlerFunc {
	return func(e echo.Context) error { return e.Blob(http.StatusOK, contentType, content()) }
}

// welcome says what this is.
type welcome struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Docs    string `json:"docs"`
	OpenAPI string `json:"openapi"`
}

func (s *Server) root(e echo.Context) error {
	if strings.Contains(e.Request().Header.Get("Accept"), "text/html") {
		return e.Redirect(http.StatusFound, "/docs")
	}
	return e.JSON(http.StatusOK, welcome{Name: "annals", Version: s.cfg.Version, Docs: "/docs", OpenAPI: "/openapi.yaml"})
}
