package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

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

// operations answers requests of operators and monitoring programs.
type operations struct{ *Server }

func (s operations) operatorRoutes() {
	tags := []string{"Operation"}
	unwanted := &huma.Response{Ref: "#/components/responses/" + serve.ResponseName(http.StatusUnprocessableEntity)}
	huma.Register(s.api.Huma, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: tags, Security: keyless(),
		Summary: "Tell whether the process is alive", Responses: map[string]*huma.Response{"422": unwanted},
	}, withoutParameters(s.healthy))
	huma.Register(s.api.Huma, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: tags, Security: keyless(),
		Summary: "Tell whether requests can be answered, and if not, why",
		Responses: map[string]*huma.Response{"422": unwanted, "503": {
			Description: "Not ready, with the reasons",
			Content:     serve.JSONBody[api.Readiness](s.api, true).Content,
		}},
	}, withoutParameters(s.ready))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "settings", Method: http.MethodGet, Path: "/v1/settings", Tags: tags,
		Summary:     "See the settings of this server, and where each comes from",
		Description: "Without keys and passwords. For admins.",
	}, s.settings)
	serve.Handle(s.api, huma.Operation{
		OperationID: "change-learning", Method: http.MethodPut, Path: "/v1/settings/learned-for", Tags: tags,
		Summary:     "Set for whom lessons of sessions about work are",
		Description: "Of the tenant, for later commits without scopes. For admins.",
		RequestBody: serve.JSONBody[api.Learning](s.api, true),
		Errors:      serve.BodyErrors,
	}, s.changeLearning)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "test-settings", Method: http.MethodPost, Path: "/v1/settings/test", Tags: tags,
		Summary: "Ask each model a short text, and see whether it answers",
		Description: "Each model has some seconds. The provider may count the requests. The answer is 200 also if a model " +
			"does not answer. For admins.",
	}, s.testModels)
	s.page("metrics", "/metrics", "Metrics for Prometheus, with the names that the caller may read", "text/plain",
		s.metrics)
	s.page("openapi-yaml", "/openapi.yaml", "This description", "application/yaml",
		s.described("application/yaml", func(p pages) []byte { return p.yaml }))
	s.page("openapi-json", "/openapi.json", "This description, as JSON", serve.JSONType,
		s.described(serve.JSONType, func(p pages) []byte { return p.json }))
	s.page("docs", "/docs", "This description, for people", "text/html", s.docs)
	s.page("root", "/", "Where to go from here", serve.JSONType, s.root)
	root := s.api.Huma.OpenAPI().Paths["/"].Get
	root.Responses["303"] = &huma.Response{Description: "A browser: to the console or to /docs"}
}

// metrics answers with the metrics that name no tenant, and with those of scopes that the caller may read.
func (s operations) metrics(c echo.Context) error {
	by, err := s.authenticate(c.Request())
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
func (s operations) page(id, path, summary, contentType string, handler echo.HandlerFunc) {
	s.api.Huma.OpenAPI().AddOperation(&huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"Operation"},
		Security: keyless(),
		Responses: map[string]*huma.Response{"200": {
			Description: http.StatusText(http.StatusOK),
			Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{}}},
		}},
	})
	s.echo.GET(path, handler)
}

// described answers with a page of the description.
func (s operations) described(contentType string, page func(pages) []byte) echo.HandlerFunc {
	return func(e echo.Context) error {
		p, err := s.pages()
		if err != nil {
			return err
		}
		return e.Blob(http.StatusOK, contentType, page(p))
	}
}

// docs answers with the description for people.
func (s operations) docs(e echo.Context) error {
	p, err := s.pages()
	if err != nil {
		return err
	}
	e.Response().Header().Set("Content-Security-Policy", p.docsPolicy)
	return e.Blob(http.StatusOK, "text/html; charset=utf-8", docsAt(p.docs, e.Request()))
}

func (s operations) root(e echo.Context) error {
	if strings.Contains(e.Request().Header.Get("Accept"), "text/html") {
		return e.Redirect(http.StatusSeeOther, s.cfg.Home)
	}
	return e.JSON(
		http.StatusOK, api.Welcome{Name: "annals", Version: s.cfg.Version, Docs: "/docs", OpenAPI: "/openapi.yaml"},
	)
}

type healthOutput struct {
	Body api.Health
}

type readyOutput struct {
	Status int
	Body   api.Readiness
}

func (s operations) healthy(context.Context, *struct{}) (*healthOutput, error) {
	return &healthOutput{Body: api.Health{Status: "ok", Version: s.cfg.Version}}, nil
}

// withoutParameters registers an operation without parameters. It refuses every parameter.
func withoutParameters[O any](
	answer func(context.Context, *struct{}) (*O, error),
) func(context.Context, *struct{}) (*O, error) {
	return func(ctx context.Context, in *struct{}) (*O, error) {
		c := serve.CallOf(ctx)
		c.Parameters(nil)
		if c.Err = c.Found.Err(); c.Err != nil {
			return nil, serve.ProblemOf(c.Err, c.Instance())
		}
		return answer(ctx, in)
	}
}

// ready runs all probes in parallel.
func (s operations) ready(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	checks := make([]api.Check, len(s.cfg.Probes))
	var asking sync.WaitGroup
	for i, probe := range s.cfg.Probes {
		asking.Go(func() {
			checks[i] = api.Check{Name: probe.Name, Status: "ok"}
			if err := probe.ask(ctx); err != nil {
				checks[i].Status, checks[i].Reason = "failed", err.Error()
				if probe.Beside {
					checks[i].Status = "degraded"
				}
			}
		})
	}
	asking.Wait()
	out := &readyOutput{Status: http.StatusOK, Body: api.Readiness{Status: "ready", Checks: checks}}
	for _, c := range checks {
		if c.Status == "failed" {
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "not ready"
		}
	}
	if s.closing.Load() {
		out.Status, out.Body.Status = http.StatusServiceUnavailable, "shutting down"
	}
	return out, nil
}

// errSettings refuses the settings to other callers than admins.
func errSettings(c *serve.Call) error {
	if c.Principal.IsTenantAdmin() {
		return nil
	}
	return domain.Refuse(domain.ErrForbidden, "settings are for admins")
}

func (s operations) settings(ctx context.Context, c *serve.Call, _ *struct{}) (api.Settings, error) {
	shown := s.cfg.Settings
	shown.Items = append([]api.Setting{}, shown.Items...)
	shown.Models = serve.Map(s.cfg.Models, func(m Model) api.Model { return m.Model })
	if err := errSettings(c); err != nil || s.cfg.Sessions == nil {
		return shown, err
	}
	rule, err := s.cfg.Sessions.LearnedFor(ctx, c.Principal.Tenant)
	learned := api.Setting{
		Name: "learned-for", Value: string(rule), Origin: "tenant", Group: "extraction",
		Help: "For whom lessons about tools, skills, patterns and antipatterns are: annals session learned-for.",
	}
	if rule == "" {
		learned.Value, learned.Origin = string(domain.LearnedShared), "default"
	}
	shown.Items = append(shown.Items, learned)
	return shown, err
}

// changeLearning changes the rule of the tenant.
func (s operations) changeLearning(
	ctx context.Context, c *serve.Call, _ *struct{},
) (*serve.Output[api.Learning], error) {
	given, body, err := serve.ReadBody[api.Learning](c)
	if err != nil {
		return nil, err
	}
	command := domain.ChangeLearning{By: c.Principal, LearnedFor: domain.LearnedFor(given.LearnedFor)}
	_, err = c.Submit(ctx, command, command.Validate(), body)
	return &serve.Output[api.Learning]{Body: given}, err
}

// testModels asks all models in parallel.
func (s operations) testModels(ctx context.Context, c *serve.Call, _ *struct{}) (api.ModelTests, error) {
	tests := api.ModelTests{Items: make([]api.ModelTest, len(s.cfg.Models))}
	if err := errSettings(c); err != nil {
		return tests, err
	}
	const patience = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var asking sync.WaitGroup
	for i, model := range s.cfg.Models {
		asking.Go(func() {
			test, began := api.ModelTest{Model: model.Model}, time.Now()
			var err error
			if model.Try != nil {
				err = Probe{Check: func(ctx context.Context) (err error) {
					test.Dims, err = model.Try(ctx)
					return err
				}}.ask(ctx)
			}
			test.Milliseconds = float64(time.Since(began).Microseconds()) / 1000
			if test.OK = err == nil; !test.OK {
				test.Error = err.Error()
			}
			tests.Items[i] = test
		})
	}
	asking.Wait()
	return tests, nil
}

// ask turns a panic of a probe into an error: no other function would recover it.
func (p Probe) ask(ctx context.Context) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = errors.New("the probe itself is broken")
		}
	}()
	return p.Check(ctx)
}
