package operate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Health is what the operations on the health of the server need.
type Health struct {
	Probes  []Probe // asked by /readyz, all at once, each within two seconds
	Replica Replica // nil for a database that has no standbys

	api *serve.API
}

// Replica tells which database it is and which role it has, and how far a standby is behind its primary.
type Replica interface {
	Replica() (database, role string, lag time.Duration)
}

// Probe is one condition of readiness.
type Probe struct {
	Name string // such as "database"
	// Check returns nil when all is well. The text of the error is shown to the caller. An error that matches
	// domain.ErrBusy makes the server no less ready, since the others would be as busy.
	Check func(context.Context) error
	// Beside means that the server is ready without it, with fewer functions.
	Beside bool
}

// Routes registers the operations.
func (s Health) Routes(a *serve.API, _ visible.Events) {
	s.api = a
	tags := []string{"Operation"}
	unwanted := &huma.Response{Ref: "#/components/responses/" + serve.ResponseName(http.StatusUnprocessableEntity)}
	huma.Register(s.api.Huma, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: tags, Security: []map[string][]string{},
		Summary:     "Tell whether the process is alive",
		Description: "It asks neither the database nor a model, so it answers as long as the process runs.",
		Responses:   map[string]*huma.Response{"422": unwanted},
	}, withoutParameters(s.healthy))
	huma.Register(s.api.Huma, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: tags, Security: []map[string][]string{},
		Summary: "Tell whether requests can be answered, and if not, why",
		Description: "503 names what does not answer, such as the database. It also answers 503 while the " +
			"server shuts down.",
		Responses: map[string]*huma.Response{"422": unwanted, "503": {
			Description: "Not ready, with the reasons",
			Content:     serve.JSONBody[api.Readiness](s.api, true).Content,
		}},
	}, withoutParameters(s.ready))
}

type healthOutput struct {
	Body api.Health
}

type readyOutput struct {
	Status int
	Body   api.Readiness
}

func (s Health) healthy(context.Context, *struct{}) (*healthOutput, error) {
	return &healthOutput{Body: api.Health{Status: "ok", Version: s.api.Version}}, nil
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
func (s Health) ready(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	checks := make([]api.Check, len(s.Probes))
	var asking sync.WaitGroup
	for i, probe := range s.Probes {
		asking.Go(func() {
			checks[i] = api.Check{Name: probe.Name, Status: "ok"}
			if err := probe.ask(ctx); err != nil {
				checks[i].Status, checks[i].Reason = "failed", err.Error()
				if probe.Beside || errors.Is(err, domain.ErrBusy) {
					checks[i].Status = "degraded"
				}
			}
		})
	}
	asking.Wait()
	out := &readyOutput{Status: http.StatusOK, Body: api.Readiness{Status: "ready", Checks: checks}}
	if s.Replica != nil {
		var lag time.Duration
		if out.Body.Database, out.Body.Role, lag = s.Replica.Replica(); out.Body.Role == "standby" {
			seconds := lag.Seconds()
			out.Body.LagSeconds = &seconds
		}
	}
	for _, c := range checks {
		if c.Status == "failed" {
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "not ready"
		}
	}
	if s.api.Closing() {
		out.Status, out.Body.Status = http.StatusServiceUnavailable, "shutting down"
	}
	return out, nil
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
