package operate

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Settings are what the operations on settings need.
type Settings struct {
	Shown  api.Settings // without secrets
	Models []Model
	// Sessions knows the tenant's rule for lessons. Nil if this server keeps no sessions.
	Sessions interface {
		LearnedFor(ctx context.Context, tenant string) (domain.LearnedFor, error)
	}

	api *serve.API
}

// Model is a model that the server asks.
type Model struct {
	api.Model
	// Try asks a short text, and returns the length of its vector. Nil if there is nothing to ask.
	Try func(context.Context) (dims int, err error)
}

// Routes registers the operations.
func (s Settings) Routes(a *serve.API, _ visible.Events) {
	s.api = a
	tags := []string{"Operation"}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "settings", Method: http.MethodGet, Path: "/v1/settings", Tags: tags,
		Summary:     "See the settings of this server, and where each comes from",
		Description: "Without keys and passwords. For admins.",
	}, s.settings)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "change-learning", Method: http.MethodPut, Path: "/v1/settings/learned-for", Tags: tags,
		Summary:     "Set for whom lessons of sessions about work are",
		Description: "Of the tenant, for later commits without scopes. For admins.",
		Errors:      serve.BodyErrors,
	}, s.changeLearning)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "test-settings", Method: http.MethodPost, Path: "/v1/settings/test", Tags: tags,
		Summary: "Ask each model a short text, and see whether it answers",
		Description: "Each model has some seconds. The provider may count the requests. The answer is 200 also if a model " +
			"does not answer. For admins.",
	}, s.testModels)
}

// errSettings refuses the settings to other callers than admins.
func errSettings(c *serve.Call) error {
	if c.Principal.IsTenantAdmin() {
		return nil
	}
	return domain.Refuse(domain.ErrForbidden, "settings are for admins")
}

func (s Settings) settings(ctx context.Context, c *serve.Call, _ *struct{}) (api.Settings, error) {
	shown := s.Shown
	shown.Items = append([]api.Setting{}, shown.Items...)
	shown.Models = serve.Map(s.Models, func(m Model) api.Model { return m.Model })
	if err := errSettings(c); err != nil || s.Sessions == nil {
		return shown, err
	}
	rule, err := s.Sessions.LearnedFor(ctx, c.Principal.Tenant)
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
func (s Settings) changeLearning(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.Learning,
) (*serve.Output[api.Learning], error) {
	command := domain.ChangeLearning{By: c.Principal, LearnedFor: domain.LearnedFor(body.LearnedFor)}
	_, err := c.Do(ctx, command)
	return &serve.Output[api.Learning]{Body: body}, err
}

// testModels asks all models in parallel.
func (s Settings) testModels(ctx context.Context, c *serve.Call, _ *struct{}) (api.ModelTests, error) {
	tests := api.ModelTests{Items: make([]api.ModelTest, len(s.Models))}
	if err := errSettings(c); err != nil {
		return tests, err
	}
	const patience = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var asking sync.WaitGroup
	for i, model := range s.Models {
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
